"""Small fleets played as `gitfleet simulate` does: what happened, and what is where in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from gitfleet.api.bindings import Binding
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.scenarios import ClusterRule, Entry, Removed, Scenario, Switch, Written
from gitfleet.branches.desired_trees import WhatIf
from gitfleet.model.events import Event
from gitfleet.model.state import FleetState
from gitfleet.simulation.scenario import read_scenario
from gitfleet.simulation.scenario_run import ScenarioRun
from gitfleet.views.kinds import objects_of
from gitfleet.wiring import hub
from tests import builders
from tests.state.builders import reader_of

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
STATE: Final = "gitfleet/state"


@dataclass(frozen=True, slots=True)
class Played:
    """One play as it ended, with everything that was told."""

    play: ScenarioRun
    reported: tuple[tuple[float, Event], ...]

    @property
    def state(self) -> FleetState:
        """The fleet's last state."""
        return self.play._state

    def placed(self, placement: str) -> set[str]:
        """The clusters that a placement has bindings on."""
        return set(self.bindings(placement))

    def bindings(self, placement: str) -> dict[str, Binding]:
        """A placement's bindings by cluster."""
        namespace, _, name = placement.rpartition("/")
        record = self.state.placements.get(PlacementKey(namespace, name))
        return {b.cluster: b for b in record.bindings} if record else {}

    def shown(self, placement: str) -> Mapping[str, Any]:
        """A placement as `get -o yaml` shows it."""
        (found,) = objects_of("placements", reader_of(self.state), placement)
        return found

    def document(self, path: str) -> Mapping[str, Any]:
        """A file of the state branch."""
        found = yaml.safe_load(self.play.repo.files(STATE)[path])
        assert isinstance(found, dict)
        return found

    def condition(self, placement: str, type_: str = "Scheduled") -> tuple[str, str, str]:
        """(status, reason, message) of a placement's condition, "" for each where there is none."""
        return condition_in(self.document(f"placements/{placement}.yaml")["status"].get("conditions", ()), type_)

    def refusals(self, placement: str) -> dict[str, str]:
        """Why each cluster was not picked, as the last scheduling decided."""
        namespace, _, name = placement.rpartition("/")
        record = self.state.placements[PlacementKey(namespace, name)]
        return {d.cluster: d.reason for d in record.decisions if not d.selected}

    def live(self, cluster: str, kind: str, name: str) -> JsonObject | None:
        """An object on a cluster, None when it is not there."""
        return next((o.body for o in self.objects(cluster) if (o.key.kind, o.key.name) == (kind, name)), None)

    def objects(self, cluster: str) -> Sequence[Any]:
        """Everything on a cluster."""
        return self.play.fleet.cluster(cluster).objects()

    def events(self, type_: str, at: float | None = None, **fields: object) -> list[Event]:
        """What was told of a type, if wanted at one moment and with certain fields."""
        found = (e.to_json() | {"e": e} for t, e in self.reported if e.type == type_ and (at is None or t == at))
        return [one["e"] for one in found if all(one.get(k) == v for k, v in fields.items())]

    def subjects(self, at: float | None = None) -> list[str]:
        """The subjects of the state branch's commits, if wanted those of one moment."""
        return [str(e.fields["subject"]) for e in self.events("commit", at, branch=STATE)]


def condition_in(conditions: Iterable[Mapping[str, Any]], type_: str) -> tuple[str, str, str]:
    """(status, reason, message) of the condition whose type ends so."""
    for found in conditions:
        if str(found["type"]).endswith(type_):
            return found["status"], found["reason"], found.get("message", "")
    return "", "", ""


def play_example(name: str, scenario: str, until: timedelta | None = None) -> Played:
    """Play a scenario beside an example's `fleet` folder, as if nothing of its timeline came after `until`."""
    fleet = EXAMPLES / name / "fleet"
    files = {str(p.relative_to(fleet)): p.read_bytes() for p in sorted(fleet.rglob("*")) if p.is_file()}
    script = read_scenario((EXAMPLES / name / f"{scenario}.yaml").read_bytes(), path=f"{scenario}.yaml")
    happens = [e for e in script.timeline if until is None or e.at <= until]
    return _play(script, files, happens)


def play_bodies(
    bodies: Iterable[JsonObject],
    *timeline: Entry,
    rules: Sequence[ClusterRule] = (),
    what_if: WhatIf = WhatIf(),
    max_time: timedelta = timedelta(hours=1),
) -> Played:
    """Play a fleet made of objects."""
    script = Scenario(start=START, max_time=max_time, tick=timedelta(seconds=5), clusters=tuple(rules))
    files = {path: text.encode() for path, text in builders.repo_files_for(*bodies).items()}
    return _play(script, files, timeline, what_if)


def _play(
    script: Scenario, files: Mapping[str, bytes], timeline: Iterable[Entry], what_if: WhatIf = WhatIf()
) -> Played:
    ordered = tuple(sorted(timeline, key=lambda entry: entry.at))
    reported: list[tuple[float, Event]] = []
    whole = Scenario(
        start=script.start, max_time=script.max_time, tick=script.tick, clusters=script.clusters, timeline=ordered
    )
    play = hub.run_scenario(whole, files, lambda event, at: reported.append((at, event)), what_if=what_if)
    return Played(play, tuple(reported))


def write(at: float, *bodies: JsonObject) -> list[Entry]:
    """A commit for each file that holds the objects, all at one moment (seconds)."""
    files = builders.repo_files_for(*bodies)
    return [Entry(at=timedelta(seconds=at), write=Written(path=path, content=text)) for path, text in files.items()]


def remove(at: float, body: JsonObject) -> Entry:
    """A commit that removes an object's file."""
    return Entry(at=timedelta(seconds=at), remove=Removed(path=builders.path_of(body)))


def silent(at: float, cluster: str) -> Entry:
    """A cluster stops answering."""
    return Entry(at=timedelta(seconds=at), cluster=Switch(name=cluster, state="unreachable"))


def back(at: float, cluster: str) -> Entry:
    """A cluster answers again."""
    return Entry(at=timedelta(seconds=at), cluster=Switch(name=cluster, state="reachable"))


def member(name: str, leave: str | None = None, **labels: str) -> dict[str, Any]:
    """A simulated member; `leave` is its deleteOptions.propagationPolicy, and without a wait for a person."""
    body = builders.member_cluster(name, labels=labels)
    if leave is not None:
        body["spec"]["deleteOptions"] = {"propagationPolicy": leave}
        body["metadata"]["annotations"] = {"gitfleet.dev/allow-empty": "true"}
    return body


def role(name: str) -> dict[str, Any]:
    """Something small to place: a ClusterRole."""
    return builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", name, rules=[])


def place_role(name: str, **parts: Any) -> list[dict[str, Any]]:
    """A placement of a role of its own name, and the role."""
    selector = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole", "name": name}
    return [builders.placement(name, selectors=[selector], **parts), role(name)]


def required(**match_labels: str) -> dict[str, Any]:
    """An affinity for clusters with certain labels only."""
    return required_terms({"labelSelector": {"matchLabels": match_labels}})


def required_terms(*terms: Mapping[str, Any]) -> dict[str, Any]:
    """An affinity with required terms."""
    chosen = {"clusterSelectorTerms": [dict(term) for term in terms]}
    return {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": chosen}}


def pick_all(**match_labels: str) -> dict[str, Any]:
    """A PickAll policy, if wanted for clusters with certain labels only."""
    return {"placementType": "PickAll", **({"affinity": required(**match_labels)} if match_labels else {})}


def key_of_role(name: str) -> ObjectKey:
    """The key of `role`."""
    return ObjectKey("rbac.authorization.k8s.io", "v1", "ClusterRole", "", name)
