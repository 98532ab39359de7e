"""One object of one placement, where others write too: what people and other managers do, what the server has, and what
gitfleet says of it. The server is a real kube-apiserver or the simulated one; what is expected was seen on the real.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import pytest

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.apply.removed_fields import LAST_APPLIED
from gitfleet.formats.managed_fields import managed_entries
from gitfleet.model.operations import Outcome
from gitfleet.ports.transport import Request, Transport
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.views.kinds import objects_of
from tests import builders
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World, nothing
from tests.state.builders import reader_of

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
MAPS: Final = ("data", "annotations", "finalizers", "ownerReferences")
Step = Callable[["Play"], None]


class Found(NamedTuple):
    """An object as the server has it: its data, who owns which fields, and what else a row names."""

    data: Mapping[str, str]
    owners: Mapping[str, str]
    annotations: Mapping[str, str] = {}
    owned_by: str = ""
    terminating: bool = False


class Said(NamedTuple):
    """What the state branch says of the placement: its last condition, the object's failure, and its differences."""

    condition: str
    failed: str = ""
    differs: tuple[str, ...] = ()
    written_by: str = ""


@dataclass(frozen=True)
class Real:
    """A real server, with what carries a test's own requests to it and a folder for gitfleet's kubeconfig."""

    server: ApiServer
    transport: Transport
    folder: Path


@dataclass(slots=True)
class Play:
    """One placement of one ConfigMap in a namespace of its own: on the simulated server unless a real one is given."""

    strategy: dict[str, Any]
    real: Real | None = None
    namespace: str = ""
    world: World = field(default_factory=World)
    fleet: RealFleet | None = None

    def __post_init__(self) -> None:
        if not self.namespace:
            self.namespace = f"row-{uuid4().hex[:8]}" if self.real else "row"
            self.post("/api/v1/namespaces", builders.namespace(self.namespace), "admin")
        self.connect()
        asks_nobody = builders.fleet_config(removals={"approval": "Never"})
        self.world.commit(self.member(), builders.namespace(self.namespace), asks_nobody)

    def connect(self) -> None:
        """Let gitfleet talk to the server; to the simulated one it does so anyway."""
        if self.real:
            self.fleet = RealFleet(self.world, [self.real.server], self.real.folder)

    def close(self) -> None:
        """End the connections."""
        if self.fleet:
            self.fleet.__exit__(None, None, None)

    # What others send

    def send(self, method: str, path: str, form: str = "", **more: Any) -> tuple[int, Any]:
        """Status and body of one request, its body in a form (`APPLY`, `MERGE`)."""
        transport = self.real.transport if self.real else self.world.fleet.cluster("east")
        headers = {"Content-Type": form or "application/json", "Accept": "application/json"}
        response = transport.request(Request(method=method, path=path, headers=headers, **more))
        return response.status, response.json()

    def done(self, method: str, path: str, form: str = "", **more: Any) -> Any:
        """The body of one request that the server does."""
        status, body = self.send(method, path, form, **more)
        assert status in (200, 201), body
        return body

    def post(self, path: str, body: Mapping[str, Any], manager: str) -> Any:
        """An object is made. The simulated server knows no POST, which gitfleet never sends: there it is applied, and
        the entry of that becomes the entry of an update."""
        if self.real:
            return self.done("POST", path, body=body, query={"fieldManager": manager})
        path = f"{path}/{body['metadata']['name']}"
        made = self.done("PATCH", path, APPLY, body=body, query={"fieldManager": manager})
        entries = [{**entry, "operation": "Update"} for entry in made["metadata"].get("managedFields", ())]
        owners = {"managedFields": entries, "resourceVersion": made["metadata"]["resourceVersion"]}
        return self.done("PATCH", path, MERGE, body={"metadata": owners})

    @property
    def path(self) -> str:
        """Where ConfigMaps are."""
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    # What is in git

    def member(self) -> dict[str, Any]:
        """The cluster."""
        return builders.member_cluster("east", connection={"context": "east"})

    def body(self, **data: str) -> dict[str, Any]:
        """The ConfigMap."""
        return builders.config_map(self.namespace, "cm", data)

    def placement(self) -> dict[str, Any]:
        """The placement, with the strategy that it has now."""
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "cm"}
        spec = {"resourceSelectors": [selector], "strategy": self.strategy}
        parts: dict[str, Any] = {"spec": spec, "annotations": {"gitfleet.dev/allow-empty": "true"}}
        version = "placement.kubernetes-fleet.io/v1beta1"
        return builders.an_object(version, "ResourcePlacement", "web", namespace=self.namespace, **parts)

    def commit(self, annotations: Mapping[str, str] | None = None, **data: str) -> None:
        """The manifest (`a: 1`) is committed with the placement."""
        body = self.body(**(data or {"a": "1"}))
        if annotations:
            body["metadata"]["annotations"] = dict(annotations)
        self.world.commit(self.placement(), body)

    def reconcile_while(self, step: Step) -> tuple[Outcome, ...]:
        """One reconcile, and what others do after it observed and before it applies."""
        driver = self.world.driver
        driver.checkpoint = lambda at: step(self) if at == "intent published" else None
        result = driver.reconcile()
        driver.checkpoint = nothing
        return result.outcomes

    def crash_at(self, at: str) -> None:
        """One reconcile that ends in the middle, as by kill -9; then another process begins."""

        def crash(reached: str) -> None:
            if reached == at:
                raise SimulatedCrash

        self.world.driver.checkpoint = crash
        with contextlib.suppress(SimulatedCrash):
            self.world.driver.reconcile()
        self.restart()

    def restart(self) -> None:
        """Another process that knows nothing but the remote."""
        self.close()
        self.world.restart()
        self.connect()

    # What is to be seen

    def live(self) -> dict[str, Any] | None:
        """The object as the server has it."""
        status, body = self.send("GET", f"{self.path}/cm")
        assert status in (200, 404), body
        found: dict[str, Any] | None = body if status == 200 else None
        return found

    def found(self) -> Found | None:
        """The same in short."""
        body = self.live()
        if body is None:
            return None
        metadata = body["metadata"]
        notes = {name.replace(LAST_APPLIED, "last-applied"): v for name, v in metadata.get("annotations", {}).items()}
        return Found(
            body.get("data", {}),
            owners_of(body),
            {name: "..." if name == "last-applied" else value for name, value in notes.items()},
            " ".join(owner["name"] for owner in metadata.get("ownerReferences", ())),
            "deletionTimestamp" in metadata,
        )

    def as_recorded(self, found: Found | object) -> Found | object:
        """What is expected, less what the simulated server does not record: that an update made the map itself."""
        if self.real or not isinstance(found, Found):
            return found
        owners = {by: " ".join(one for one in fields.split() if one not in MAPS) for by, fields in found.owners.items()}
        return found._replace(owners={by: fields for by, fields in owners.items() if fields})

    def version(self) -> str:
        """The object's uid and resourceVersion, "" when it is not there: every write changes it."""
        body = self.live()
        return "" if body is None else f"{body['metadata']['uid']} {body['metadata']['resourceVersion']}"

    def said(self) -> Said | None:
        """What a person reads of the placement; None when there is no placement."""
        shown = list(objects_of("placements", reader_of(self.world.state()), f"{self.namespace}/web"))
        if not shown:
            return None
        status = shown[0]["status"]
        last = status["conditions"][-1]
        there: Mapping[str, Any] = next(iter(status.get("placementStatuses", ())), {})
        failed = [one["condition"]["reason"] for one in there.get("failedPlacements", ())]
        differs, by = list[str](), set[str]()
        for one in (*there.get("driftedPlacements", ()), *there.get("diffedPlacements", ())):
            observed = one.get("observedDrifts") or one.get("observedDiffs") or ()
            differs += [f"{d['path']}: {d.get('valueInMember')} -> {d.get('valueInHub')}" for d in observed]
            by |= {writer["manager"] for writer in one.get("writtenBy", ())}
        name = last["type"].removeprefix("ResourcePlacement")
        return Said(f"{name} {last['status']} {last['reason']}", " ".join(failed), tuple(differs), " ".join(sorted(by)))

    def because(self) -> str:
        """What is said of the object in a sentence, "" where nothing is."""
        found = (
            failed.message
            for binding in self.world.bindings(f"{self.namespace}/web").values()
            for failed in binding.failed
        )
        return " ".join(found)

    def uids(self) -> list[str | None]:
        """The uid of each object in the inventory; without one an entry is only an intention."""
        return [entry.uid for owned in self.world.state().inventory.values() for entry in owned.values()]

    def is_owned(self) -> bool:
        """Whether the inventory says that the object is gitfleet's."""
        return any(self.uids())


def owners_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The fields that each manager owns, as `data.a data.b` by `manager operation`."""
    return {
        f"{entry['manager']} {entry['operation']}": " ".join(sorted(_paths(entry["fieldsV1"], "")))
        for entry in managed_entries(body)
    }


def _paths(tree: Mapping[str, Any], above: str) -> list[str]:
    found = []
    for name, below in tree.items():
        if name == ".":
            found.append(above)
            continue
        part = "*" if name[:2] in ("k:", "v:") else name.removeprefix("f:").replace(LAST_APPLIED, "last-applied")
        path = f"{above}.{part}" if above and above != "metadata" else part
        found += _paths(below, path) if below else [path]
    return found


# What others do


def create(manager: str = "other", owner: str = "", **data: str) -> Step:
    """Somebody makes the object; with `owner` another object owns it."""

    def step(play: Play) -> None:
        body = play.body(**data)
        if owner:
            made = play.post(play.path, builders.config_map(play.namespace, owner), manager)
            reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": made["metadata"]["uid"]}
            body["metadata"]["ownerReferences"] = [reference]
        play.post(play.path, body, manager)

    return step


def kubectl(**data: str) -> Step:
    """`kubectl apply`, client-side: the object with the annotation that says what was applied last."""

    def step(play: Play) -> None:
        body = play.body(**data)
        body["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(body)}
        play.post(play.path, body, "kubectl-client-side-apply")

    return step


def apply(**data: str) -> Step:
    """`kubectl apply --server-side --force-conflicts --field-manager other`."""

    def step(play: Play) -> None:
        query = {"fieldManager": "other", "force": "true"}
        play.done("PATCH", f"{play.path}/cm", APPLY, body=play.body(**data), query=query)

    return step


def edit(**data: str) -> Step:
    """Somebody sets entries of the object."""
    return patch({"data": data})


def patch(body: Mapping[str, Any]) -> Step:
    """A merge patch by somebody."""

    def step(play: Play) -> None:
        play.done("PATCH", f"{play.path}/cm", MERGE, body=body, query={"fieldManager": "other"})

    return step


def delete(play: Play) -> None:
    """Somebody deletes the object."""
    play.done("DELETE", f"{play.path}/cm")


# What people commit


def strategy(words: str) -> dict[str, Any]:
    """A placement's strategy by the words that differ from the default: `ServerSideApply force IfNoDiff`."""
    apply_, out = dict[str, Any](), dict[str, Any]()
    for word in words.split():
        match word:
            case "ClientSideApply" | "ServerSideApply" | "ReportDiff":
                apply_["type"] = word
            case "force":
                apply_["serverSideApplyConfig"] = {"force": True}
            case "IfNoDiff" | "Never":
                apply_["whenToTakeOver"] = word
            case "IfNotDrifted":
                apply_["whenToApply"] = word
            case "allowCoOwnership":
                apply_[word] = True
            case "Abandon":
                out["deleteStrategy"] = {"propagationPolicy": word}
            case _:
                raise ValueError(word)
    return {**out, "applyStrategy": apply_}


def release(annotations: Mapping[str, str] | None = None, **data: str) -> Step:
    """The manifest (`a: 1`) is committed with the placement, and rolled out."""

    def step(play: Play) -> None:
        play.commit(annotations, **data)
        play.world.rest()

    return step


def change_to(words: str) -> Step:
    """Another strategy is committed."""

    def step(play: Play) -> None:
        play.strategy = strategy(words)
        play.world.commit(play.placement())
        play.world.rest()

    return step


def unplace(play: Play) -> None:
    """The placement is removed from the repo."""
    play.world.commit(remove=[play.placement()])
    play.world.rest()


def unselect(play: Play) -> None:
    """The manifest is removed from the repo, and the placement may become empty."""
    play.world.commit(remove=[play.body()])
    play.world.rest()


def override_deletes(play: Play) -> None:
    """An override takes the object from every cluster."""
    play.world.commit(builders.override("drop", "ConfigMap/cm", builders.override_rule(), namespace=play.namespace))
    play.world.rest()


def leave(policy: str) -> Step:
    """The cluster leaves the fleet."""

    def step(play: Play) -> None:
        member = play.member()
        member["spec"]["deleteOptions"] = {"propagationPolicy": policy}
        play.world.commit(member)
        play.world.rest()
        play.world.commit(remove=[member])
        play.world.rest()

    return step


def reconcile(play: Play) -> None:
    """Nobody commits anything."""
    play.world.rest()


# The two sides

Begin = Callable[..., Play]
"""Makes a play with a strategy in words."""


class OnSimulatedServer:
    """The tests of a class below, on the simulated server."""

    @pytest.fixture
    def begin(self) -> Begin:
        """Begin."""
        return lambda words, **more: Play(strategy(words), **more)


class OnRealServer:
    """The tests of a class below, on a real one."""

    @pytest.fixture
    def begin(self, server: ApiServer, tmp_path: Path) -> Iterator[Begin]:
        """Begin."""
        login = FixedLogin(Login(headers={"Authorization": f"Bearer {server.token}"}))
        transport = HttpTransport(Endpoint(server=server.url, authority=server.ca_pem), login)
        with contextlib.ExitStack() as stack:
            stack.callback(transport.close)

            def begin(words: str, **more: Any) -> Play:
                play = Play(strategy(words), Real(server, transport, tmp_path), **more)
                stack.callback(play.close)
                return play

            yield begin
