"""What people edit in a random history: clusters, placements, objects, overrides, pins, and answers to holds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from random import Random
from typing import Final

from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from tests import builders
from tests.builders import to_yaml
from tests.properties.writing import Placed, Written

ZONES: Final = ("a", "b", "c")


class Edits:
    """The edits of one history; each is a commit."""

    dice: Random
    namespaces: tuple[str, ...]
    written: Written
    version: int
    kinds: dict[str, str]

    @abstractmethod
    def _commit(self, what: str) -> None:
        """Commit what is written now."""

    @abstractmethod
    def state(self) -> FleetState:
        """The state branch, an empty one where it cannot be read."""

    def _new_placement(self, name: str) -> Placed:
        dice, count = self.dice, len(self.written.clusters)
        chosen = tuple(sorted(dice.sample(sorted(self.written.clusters), dice.randint(1, count))))
        return Placed(
            name=name,
            space=name,
            kind=self.kinds.setdefault(name, dice.choice(("PickAll", "PickN", "PickN", "PickFixed"))),
            number=dice.randint(1, count + 1),
            names=chosen,
            zone=dice.choice((None, None, None, "a")),
            max_unavailable=dice.choice((1, 1, 2, 3, "25%", "50%", "1%", "100%")),
            max_surge=dice.choice((1, 2, "25%", "50%", "100%")),
        )

    def _roll(self) -> None:
        key = self.dice.choice(sorted(self.written.deployments))
        self.version += 1
        self.written.deployments[key] = (str(self.version % 4 + 1), self.written.deployments[key][1])
        self._commit(f"{key} gets image {self.written.deployments[key][0]}")

    def _bad(self) -> None:
        key = self.dice.choice(sorted(self.written.deployments))
        self.written.deployments[key] = ("bad", self.written.deployments[key][1])
        self._commit(f"{key} gets a bad image")

    def _good(self) -> None:
        for key, (image, replicas) in self.written.deployments.items():
            self.written.deployments[key] = ("1" if image == "bad" else image, replicas)
        self._commit("good images")

    def _add_config(self) -> None:
        key = (self.dice.choice(self.namespaces), self.dice.choice(("settings", "more")))
        self.written.configs[key] = self.dice.randint(1, 3)
        self._commit(f"ConfigMap {key}")

    def _add_deployment(self) -> None:
        key = (self.dice.choice(self.namespaces), "side")
        self.written.deployments[key] = ("1", self.dice.randint(1, 2))
        self._commit(f"Deployment {key}")

    def _remove_object(self) -> None:
        key = self.dice.choice(sorted({**self.written.configs, **self.written.deployments}))
        if key[1] != "app":
            self.written.configs.pop(key, None)
            self.written.deployments.pop(key, None)
            self._commit(f"remove {key}")

    def _placement(self) -> Placed | None:
        found = sorted(self.written.placements)
        return self.written.placements[self.dice.choice(found)] if found else None

    def _put(self, placed: Placed, what: str) -> None:
        self.written.placements[placed.name] = placed
        self._commit(f"{placed.name}: {what}: {placed}")

    def _change_policy(self) -> None:
        placed = self._placement()
        if placed is not None:
            new = self._new_placement(placed.name.removesuffix("-b"))
            self._put(replace(new, name=placed.name, space=placed.space), "another policy")
        else:
            self.written.placements["web"] = self._new_placement("web")
            self._commit("web is placed again")

    def _scale(self) -> None:
        placed = self._placement()
        if placed is not None:
            number = self.dice.randint(1, len(self.written.clusters) + 1)
            names = tuple(
                sorted(self.dice.sample(sorted(self.written.clusters), min(number, len(self.written.clusters))))
            )
            self._put(replace(placed, number=number, names=names), "scale")

    def _budget(self) -> None:
        placed = self._placement()
        if placed is not None:
            new = self._new_placement(placed.name.removesuffix("-b"))
            self._put(replace(placed, max_unavailable=new.max_unavailable, max_surge=new.max_surge), "budget")

    def _drop_placement(self) -> None:
        placed = self._placement()
        if placed is not None and self.dice.random() < 0.5:
            del self.written.placements[placed.name]
            self._commit(f"{placed.name} is not placed any more")

    def _named_elsewhere(self) -> set[str]:
        """The placements that keep their names: other files name them, too, and none of these is edited with them."""
        return set()

    def _rename(self) -> None:
        placed = self._placement()
        if placed is None or placed.name in self._named_elsewhere():
            return
        name = placed.name.removesuffix("-b") if placed.name.endswith("-b") else f"{placed.name}-b"
        del self.written.placements[placed.name]
        pinned = self.written.pins.pop(placed.name, None)
        if pinned is not None and self.dice.random() < 0.5:
            self.written.pins[name] = pinned.replace(f"placement: {placed.name}\n", f"placement: {name}\n")
        self._put(replace(placed, name=name, former=placed.name), f"was {placed.name}")

    def _pin(self) -> None:
        placed = self._placement()
        record = self.state().placements.get(PlacementKey("", placed.name)) if placed is not None else None
        if record is None or not record.resource_snapshots:
            return
        named = self.dice.choice(record.resource_snapshots)
        digest = named.hash if self.dice.random() < 0.8 else "0" * 64
        name = record.placement.key.name
        self.written.pins[name] = to_yaml(builders.pin(name, named.index, digest))
        self._commit(f"{name} is pinned to {named.index}{'' if digest == named.hash else ', with another digest'}")

    def _unpin(self) -> None:
        self.written.pins.clear()
        self._commit("no pins")

    def _join(self) -> None:
        name = f"c{self.dice.randint(0, 8)}"
        self.written.clusters.setdefault(name, (self.dice.choice(ZONES), False))
        self._commit(f"{name} joins")

    def _leave(self) -> None:
        if len(self.written.clusters) > 2:
            name = self.dice.choice(sorted(self.written.clusters))
            del self.written.clusters[name]
            self._commit(f"{name} leaves")

    def _relabel(self) -> None:
        for name in self.dice.sample(sorted(self.written.clusters), self.dice.randint(1, len(self.written.clusters))):
            self.written.clusters[name] = (self.dice.choice(ZONES), self.written.clusters[name][1])
        self._commit("other zones")

    def _taint(self) -> None:
        name = self.dice.choice(sorted(self.written.clusters))
        zone, tainted = self.written.clusters[name]
        self.written.clusters[name] = (zone, not tainted)
        self._commit(f"taint {name}: {not tainted}")

    def _override(self) -> None:
        space = self.dice.choice(self.namespaces)
        if space in self.written.overrides and self.dice.random() < 0.3:
            del self.written.overrides[space]
        else:
            self.written.overrides[space] = (self.dice.choice(ZONES), self.dice.randint(1, 4))
        self._commit(f"override of {space}: {self.written.overrides.get(space)}")

    def _fail_override(self) -> None:
        space = self.dice.choice(self.namespaces)
        self.written.overrides[space] = (self.dice.choice(ZONES), 0)
        self._commit(f"override of {space} that cannot be applied: {self.written.overrides[space]}")

    def _untrackable(self) -> None:
        space = self.dice.choice(self.namespaces)
        if space in self.written.untrackable and self.dice.random() < 0.3:
            del self.written.untrackable[space]
        else:
            self.written.untrackable[space] = self.dice.randint(1, 3)
        self._commit(f"Ingress of {space}: {self.written.untrackable.get(space)}")

    def _abandon(self) -> None:
        placed = self._placement()
        if placed is not None:
            self._put(replace(placed, abandon=not placed.abandon), "deleteStrategy")

    def _answer_hold(self) -> None:
        held = sorted(self.state().held)
        if held:
            name = self.dice.choice(held)
            self.written.holds[name] = self.dice.random() < 0.7
            self._commit(f"answer to {name}: {self.written.holds[name]}")

    def _rules(self) -> None:
        dice = self.dice
        self.written.removals = {
            "approval": dice.choice(("Always", "Guarded", "Guarded", "Never")),
            "minObjects": dice.choice((1, 3, 20)),
            "minClusters": dice.choice((1, 3, 5)),
            "protectedKinds": dice.choice((["ConfigMap"], ["Namespace"], [])),
        }
        self._commit(f"rules of removals: {self.written.removals}")

    def _empty(self) -> None:
        space = self.dice.choice(self.namespaces)
        self.written.empty ^= {space}
        self._commit(f"files of {space}: {space not in self.written.empty}")

    def _reselect(self) -> None:
        placed, others = self._placement(), self.written.placements
        free = sorted({*self.namespaces, "nowhere"} - {one.space for one in others.values()})
        if placed is not None and free:
            self._put(replace(placed, space=self.dice.choice(free)), "another selector")
        elif placed is not None and len(others) == 2:
            first, second = others.values()
            others[first.name] = replace(first, space=second.space)
            self._put(replace(second, space=first.space), "each selects what the other one did")

    def _pick_nothing(self) -> None:
        placed = self._placement()
        if placed is not None:
            self._put(replace(placed, number=0, names=()), "no cluster")
