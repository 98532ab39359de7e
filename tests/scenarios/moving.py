"""Random histories of objects that move between placements in the midst of rollouts, and what may never happen in one.

Nobody makes a mistake in them: each namespace is selected by exactly one placement in every commit, on all clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from gitfleet.api.scenarios import ClusterRule
from gitfleet.formats.int_or_percent import scaled
from gitfleet.loop.results import ReconcileResult
from gitfleet.simulation.cluster import ClusterEvent
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import members
from tests.scenarios.world import World

PLACEMENTS: Final = ("alpha", "bravo", "kilo", "lima", "november", "oscar", "tango")
"""Names of which none is like another one."""
NAMESPACES: Final = ("red", "green", "blue", "grey", "gold")
MOST_PASSES: Final = 200
"""After the last commit, those in which nothing changed included."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What people want in one commit: the placements with their maxUnavailable, who has each namespace and whether by
    its label, and the image of its Deployment."""

    limits: Mapping[str, int | str]
    owners: Mapping[str, str]
    labelled: Mapping[str, bool]
    images: Mapping[str, int]

    def files(self) -> dict[str, str]:
        found = {f"placements/{name}.yaml": to_yaml(self._placement(name)) for name in self.limits}
        for name in NAMESPACES:
            found[f"resources/ns-{name}.yaml"] = to_yaml(builders.namespace(name, labels=self.labels(name)))
            app = builders.deployment(name, "app", image=f"i:{self.images[name]}")
            found[f"resources/{name}/app.yaml"] = to_yaml(app)
        return found

    def labels(self, namespace: str) -> dict[str, str]:
        return {"of": self.owners[namespace] if self.labelled[namespace] else "none"}

    def _placement(self, name: str) -> dict[str, Any]:
        named = [one for one in NAMESPACES if self.owners[one] == name and not self.labelled[one]]
        by_label = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"of": name}}}
        selectors: list[dict[str, Any]] = [builders.select_namespace(one) for one in named]
        if not named or any(self.owners[one] == name and self.labelled[one] for one in NAMESPACES):
            selectors.append(by_label)
        strategy = builders.rolling_update(maxUnavailable=self.limits[name])
        body = builders.placement(name, selectors=selectors, strategy=strategy)
        if name not in self.owners.values():
            body["metadata"]["annotations"] = {"gitfleet.dev/allow-empty": "true"}
        return body


@dataclass(slots=True)
class History:
    """One history by its seed; `wrong` is what may not be, in a sentence each."""

    seed: int
    slow: bool = True
    removals: bool = True
    world: Watched = field(init=False)
    wishes: list[Wish] = field(init=False)
    clusters: tuple[str, ...] = field(init=False)
    random: Random = field(init=False)
    wrong: list[str] = field(default_factory=list)
    seen: dict[tuple[str, str, str], tuple[int, Any]] = field(default_factory=dict)
    changed: dict[tuple[str, str], str] = field(default_factory=dict)
    fresh: set[tuple[str, str]] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    passes: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        rule = ClusterRule(available=timedelta(seconds=self.random.choice((10, 30))))
        self.world = Watched(rules=(rule,))
        self.clusters = tuple(f"c{n}" for n in range(1, self.random.choice((3, 3, 4, 6)) + 1))
        names = PLACEMENTS[: self.random.choice((2, 3, 3, 4))]
        self.wishes = [
            Wish(
                limits={name: self.random.choice((1, "25%")) for name in names},
                owners={one: self.random.choice(names) for one in NAMESPACES},
                labelled={one: self.random.random() < 0.7 for one in NAMESPACES},
                images=dict.fromkeys(NAMESPACES, 0),
            )
        ]

    def play(self) -> list[str]:
        """Play it to its end."""
        world, pick = self.world, self.random
        settings = builders.fleet_config(massDelete={"maxPercent": 100})
        world.commit(settings, *members(*self.clusters))
        world.write(self.wishes[-1].files())
        world.settle()
        world.watch, world.after = self._watch, self._count
        for _ in range(pick.randint(2, 5)):
            self._commit()
            for _ in range(pick.choice((0, 1, 1, 2, 2, 3, 4, 8))):
                world.reconcile()
                world.advance(seconds=pick.choice((0, 1, 20)) if self.slow else 60)
        self._settle()
        return self.wrong

    def _settle(self) -> None:
        self.passes = 0
        for limit in (timedelta(hours=2), timedelta(days=1)):
            try:
                self.world.settle(limit)
            except AssertionError as error:
                self.wrong.append(str(error))
        if self.passes > MOST_PASSES:
            self.wrong.append(f"takes {self.passes} passes to end")
        state, wish = self.world.state(), self.wishes[-1]
        self.wrong += [f"an error: {one}" for one in state.faults if one.severity == "error"]
        self.wrong += [f"held: {name}" for name in state.holds]
        if {key.name for key in state.placements} != wish.limits.keys():
            self.wrong.append(f"placements {sorted(key.name for key in state.placements)}")
        for key, record in state.placements.items():
            latest = record.latest_resources.name if record.latest_resources is not None else ""
            late = [b.cluster for b in record.bindings if b.applied_snapshot != latest]
            self.wrong += [f"{key} never arrives on {', '.join(late)}"] if late else []
        for cluster in self.clusters:
            owned = {key.namespace: e.placement.name for key, e in state.inventory[cluster].items() if key.namespace}
            if owned != wish.owners:
                self.wrong.append(f"{cluster} is owned by {owned}")
            for name in NAMESPACES:
                if self._live(cluster, "Deployment", name) != wish.images[name]:
                    self.wrong.append(f"{name} is old on {cluster}")

    def _commit(self) -> None:
        wish, pick = self.wishes[-1], self.random
        old = wish.files()
        for _ in range(pick.choice((1, 1, 2, 3))):
            wish = self._changed(wish)
        self.wishes.append(wish)
        new = wish.files()
        files: dict[str, str | None] = {path: None for path in old if path not in new}
        files |= {path: text for path, text in new.items() if old.get(path) != text}
        if files:
            self.world.write(files)

    def _changed(self, wish: Wish) -> Wish:
        pick = self.random
        names, one = [*wish.limits], pick.choice(NAMESPACES)
        what = pick.choice(("move", "move", "move", "move", "swap", "edit", "edit", "how", "revert", "split", "fold"))
        self.said.append(f"{what} {one}")
        match what:
            case "move":
                wish = replace(wish, owners={**wish.owners, one: pick.choice(names)})
            case "swap":
                a, b = pick.sample(names, 2)
                other = {a: b, b: a}
                wish = replace(wish, owners={ns: other.get(of, of) for ns, of in wish.owners.items()})
            case "edit":
                wish = replace(wish, images={**wish.images, one: len(self.wishes)})
            case "how":
                wish = replace(wish, labelled={**wish.labelled, one: not wish.labelled[one]})
            case "revert":
                wish = pick.choice(self.wishes[-4:])
            case "split" if fresh := self._fresh_name(wish):
                limits = {**wish.limits, fresh: pick.choice((1, "25%"))}
                wish = replace(wish, limits=limits, owners={**wish.owners, one: fresh})
            case "fold" if self.removals and len(names) > 2:
                gone = pick.choice(names)
                left = [name for name in names if name != gone]
                moved = {ns: pick.choice(left) if of == gone else of for ns, of in wish.owners.items()}
                wish = replace(wish, limits={n: wish.limits[n] for n in left}, owners=moved)
        return wish

    def _fresh_name(self, wish: Wish) -> str:
        """A name that no placement had; "" where none is left."""
        known = {name for one in (wish, *self.wishes) for name in one.limits}
        return next((name for name in PLACEMENTS if name not in known), "")

    def _live(self, cluster: str, kind: str, namespace: str) -> Any:
        """The label of a namespace, or the image of the Deployment in it."""
        if kind == "Namespace":
            return (self.world.live(cluster, kind, namespace) or {})["metadata"]["labels"]["of"]
        body = self.world.live(cluster, kind, "app", namespace) or {}
        (container,) = body["spec"]["template"]["spec"]["containers"]
        return int(container["image"].removeprefix("i:"))

    def _wanted(self, wish: Wish, kind: str, namespace: str) -> Any:
        return wish.labels(namespace)["of"] if kind == "Namespace" else wish.images[namespace]

    def _watch(self, happening: ClusterEvent) -> None:
        key, cluster = happening.key, happening.cluster
        if happening.what == "delete":
            self.wrong.append(f"{key} deleted on {cluster}")
        if happening.what != "apply" or not happening.ok:
            return
        namespace = key.namespace or key.name
        first = (0, self._wanted(self.wishes[0], key.kind, namespace))
        at, before = self.seen.get((cluster, key.kind, namespace), first)
        now = self._live(cluster, key.kind, namespace)
        if now == before:
            return
        since = (n for n in range(at, len(self.wishes)) if self._wanted(self.wishes[n], key.kind, namespace) == now)
        if (found := next(since, None)) is None:
            self.wrong.append(f"{key} is set back on {cluster} from {before} to {now}")
        else:
            self.seen[cluster, key.kind, namespace] = (found, now)
        if key.kind == "Deployment":
            self.fresh.add((cluster, namespace))

    def _count(self) -> None:
        """No placement changes more clusters at once than its maxUnavailable: those not available since it did."""
        self.passes += 1
        if not self.fresh:
            return
        inventory = self.world.state().inventory
        for cluster, namespace in self.fresh:
            apps = (e for k, e in inventory[cluster].items() if (k.kind, k.namespace) == ("Deployment", namespace))
            self.changed[cluster, namespace] = next(apps).placement.name
        down: dict[str, set[str]] = {}
        for cluster in self.clusters:
            for key in self.world.fleet.cluster(cluster).unavailable():
                if self.changed.get((cluster, key.namespace)) == (owner := self.wishes[-1].owners[key.namespace]):
                    down.setdefault(owner, set()).add(cluster)
        for owner in {self.changed[one] for one in self.fresh}:
            limits = [one.limits[owner] for one in self.wishes if owner in one.limits]
            if len(down.get(owner, ())) > max(scaled(limit, len(self.clusters)) for limit in limits):
                self.wrong.append(f"what {owner} changed is unavailable on {', '.join(sorted(down[owner]))}")
        self.fresh.clear()


class Watched(World):
    """A world that asks after each pass."""

    after: Callable[[], None] = staticmethod(lambda: None)

    def reconcile(self) -> ReconcileResult | None:
        result = super().reconcile()
        self.after()
        return result
