"""Secrets that SOPS encrypted through whole histories: on the clusters as plaintext, and nowhere else."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.api.objects import ObjectKey, key_of
from gitfleet.desired.texts import DesiredText
from gitfleet.observe.texts import ObserveText
from gitfleet.payload.texts import PayloadText
from gitfleet.simulation import requests
from gitfleet.simulation.requests import replaced
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.world import STATE, World
from tests.sops_files import AgeKey, encrypted

KEY, OTHER = AgeKey(), AgeKey()
PATH = "resources/web/secret-db.yaml"
FIRST, SECOND = "c4nary01-first", "c4nary02-second"


def secret(password: str = FIRST, **parts: Any) -> dict[str, Any]:
    return {**builders.secret("web", "db", {"password": password, "user": "admin"}), **parts}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return KEY.file(tmp_path)


def world_of(
    keys: Path | None, text: str, *more: dict[str, Any], decryptor: type[AgeDecryptor] = AgeDecryptor, **strategy: Any
) -> World:
    """One cluster that has a Secret, a ConfigMap and their namespace."""
    world = World(rules=(QUICK,), decryptor=decryptor(keys))
    applied = {**builders.rolling_update(maxUnavailable="100%"), "applyStrategy": strategy}
    world.write({PATH: text})
    world.commit(*members("c1"), builders.namespace("web"), builders.config_map("web", "other", {"a": "1"}), *more,
                 builders.placement("web", "web", strategy=applied))  # fmt: skip
    world.settle()
    return world


def password(world: World, name: str = "password") -> str | None:
    live = world.live("c1", "Secret", "db")
    return None if live is None or name not in live["data"] else base64.b64decode(live["data"][name]).decode()


def other(world: World) -> str:
    live = world.body("c1", "ConfigMap", "other")
    return str(live["data"]["a"])


def applies(world: World) -> int:
    return sum(happening.what == "apply" for happening in world.happenings)


def faults(world: World) -> list[str]:
    return [str(fault) for fault in world.state().faults]


def everything_recorded(world: World) -> str:
    """All files of the state branch with their commits' messages, copies of the repo's files included."""
    files = world.repo.files(STATE)
    messages = "".join(str(entry) for entry in world.repo.log(STATE))
    return messages + "".join(f"{path}\n{content.decode(errors='replace')}" for path, content in files.items())


def test_clusters_get_the_values_and_nothing_else_has_them(keys: Path) -> None:
    world = world_of(keys, encrypted(secret(), to=KEY))
    assert (password(world), password(world, "user")) == (FIRST, "admin")
    live = world.body("c1", "Secret", "db")
    assert "sops" not in live
    count = applies(world)
    world.restart()
    world.settle()
    assert applies(world) == count, "a new process applies nothing again"
    world.roll_out(files={PATH: encrypted(secret(SECOND), to=KEY)})
    assert password(world) == SECOND
    recorded = everything_recorded(world)
    assert "ENC[" in recorded
    for text in ("c4nary", base64.b64encode(FIRST.encode()).decode(), base64.b64encode(SECOND.encode()).decode()):
        assert text not in recorded
    assert "c4nary" not in "".join(map(str, world.events))


def test_no_server_is_asked_about_an_encrypted_manifest(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others' fields are drift there, as its server cannot say what it filled in."""
    world = world_of(keys, encrypted(secret(), to=KEY), comparisonOption="FullComparison")
    put: list[str] = []

    def noted(server: Any, key: ObjectKey, *more: Any) -> Any:
        put.append(key.name)
        return replaced(server, key, *more)

    monkeypatch.setattr(requests, "replaced", noted)
    for kind, name in (("Secret", "db"), ("ConfigMap", "other")):
        added = [{"op": "add", "path": "/data/theirs", "value": "eA=="}]
        world.fleet.cluster("c1").mutate(ObjectKey("", "v1", kind, "web", name), added)
    world.settle()
    assert put == ["other"]
    assert sorted(one.key.name for one in world.bindings("web")["c1"].drifted) == ["db", "other"]


def test_no_digest_on_the_state_branch_depends_on_a_value(keys: Path) -> None:
    """Somebody who guesses a value could try it against a digest."""
    text = encrypted(secret(), to=KEY)

    def digests(world: World) -> list[tuple[str | None, str | None]]:
        entries = world.state().inventory["c1"].values()
        return [(entry.applied_digest, entry.shape_digest) for entry in entries if entry.key.kind == "Secret"]

    class Another(AgeDecryptor):
        """Gives other values for the same file."""

        def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
            found = super().values(content)[0]
            return {0: {text: f"another {value}" for text, value in found.items()}}

    one, another = world_of(keys, text), world_of(keys, text, decryptor=Another)
    assert (password(one), password(another)) == (FIRST, f"another {FIRST}")
    assert digests(one) == digests(another)


@pytest.mark.parametrize("field", ["data", "stringData"])
@pytest.mark.parametrize(
    "strategy",
    [{}, {"comparisonOption": "FullComparison"}, {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}],
)
def test_a_value_that_somebody_changed_is_drift(keys: Path, field: str, strategy: dict[str, Any]) -> None:
    body = secret()
    if field == "data":
        texts = body.pop("stringData")
        body["data"] = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    world = world_of(keys, encrypted(body, to=KEY), **strategy)
    count = applies(world)
    assert password(world) == FIRST
    guess = base64.b64encode(b"c4nary03-by-hand").decode()
    world.fleet.clusters["c1"].mutate(key_of(body), [{"op": "replace", "path": "/data/password", "value": guess}])
    world.settle()
    assert (password(world), applies(world)) == (FIRST, count + 1)
    recorded = everything_recorded(world)
    assert "c4nary" not in recorded
    assert guess not in recorded


def test_a_drift_that_is_to_stay_is_reported_without_values(keys: Path) -> None:
    world = world_of(keys, encrypted(secret(), to=KEY), whenToApply="IfNotDrifted")
    count = applies(world)
    guess = base64.b64encode(b"c4nary03-by-hand").decode()
    world.fleet.clusters["c1"].mutate(key_of(secret()), [{"op": "replace", "path": "/data/password", "value": guess}])
    world.settle()
    assert (password(world), applies(world)) == ("c4nary03-by-hand", count)
    recorded = everything_recorded(world)
    assert "/data/password" in recorded
    assert "c4nary" not in recorded


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (encrypted(secret(SECOND), to=OTHER), f"the file is encrypted for {OTHER.recipient}, and none of the keys in"),
        (
            encrypted(secret(SECOND), to=KEY).replace("name: db\n", "name: db\n  labels: {a: b}\n"),
            "the file has another MAC than its values give",
        ),
        (encrypted(secret(data={"a": "c4nary04!"}), to=KEY), f"data.a: {DesiredText.MUST_BASE64_ENCODE()}"),
    ],
)
def test_what_cannot_be_decrypted_keeps_what_runs_and_delays_nothing_else(keys: Path, text: str, sentence: str) -> None:
    world = world_of(keys, encrypted(secret(), to=KEY))
    with world.nothing_deleted():
        world.repo.commit_files(
            "main",
            {PATH: text, **builders.repo_files_for(builders.config_map("web", "other", {"a": "2"}))},
            world.clock.now(), "Change",
        )  # fmt: skip
        world.settle()
        assert (password(world), other(world)) == (FIRST, "2")
        (fault,) = faults(world)
        assert PATH in fault
        assert sentence in fault
        assert "c4nary" not in fault
        world.restart()
        world.settle()
        assert (password(world), other(world)) == (FIRST, "2")
    world.roll_out(files={PATH: encrypted(secret(SECOND), to=KEY)})
    assert (password(world), faults(world)) == (SECOND, [])


@pytest.mark.parametrize("changed", [False, True])
def test_a_process_without_the_key_changes_and_removes_nothing_of_it(keys: Path, tmp_path: Path, changed: bool) -> None:
    world = world_of(keys, encrypted(secret(), to=KEY))
    before = {entry.key: entry for entry in world.state().inventory["c1"].values()}
    with world.nothing_deleted():
        for lost in (None, OTHER.file(tmp_path)):
            world.decryptor = AgeDecryptor(lost)
            if changed:
                world.write({PATH: encrypted(secret(SECOND), to=KEY)})
            world.restart()
            world.settle()
            (fault,) = faults(world)
            assert ("sops: " + DesiredText.CANNOT_USED_SINCE(why="the file is encrypted")) in fault
            assert password(world) == FIRST
            assert {entry.key: entry for entry in world.state().inventory["c1"].values()} == before
            world.roll_out(builders.config_map("web", "other", {"a": "2"}))
            assert other(world) == "2"
            before = {entry.key: entry for entry in world.state().inventory["c1"].values()}
    world.decryptor = AgeDecryptor(KEY.file(tmp_path))
    world.restart()
    world.settle()
    assert (password(world), faults(world)) == (SECOND if changed else FIRST, [])


def test_a_cluster_that_is_behind_waits_where_the_key_of_its_version_is_gone(keys: Path) -> None:
    """An override makes an apply necessary, and the file is encrypted for a key that the process has no more."""
    world = world_of(keys, encrypted(secret(), to=KEY))
    world.fleet.clusters["c1"].mutate(
        key_of(secret()), [{"op": "replace", "path": "/data/user", "value": base64.b64encode(b"root").decode()}]
    )
    keys.write_text(OTHER.line)
    with world.nothing_deleted():
        world.roll_out(builders.config_map("web", "other", {"a": "2"}))
    assert (password(world), password(world, "user"), other(world)) == (FIRST, "root", "2")
    why = "resources/web/secret-db.yaml is encrypted for"
    sentence = ObserveText.IS_NOT(first="Secret/web/db", verb="applied", why=why, more_than_first="")
    assert sentence in everything_recorded(world)


def test_overrides_change_what_is_encrypted_as_it_is(keys: Path) -> None:
    rule = builders.override_rule(
        {"op": "replace", "path": "/stringData/password", "value": "c4nary09-patched"},
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "add", "path": "/stringData/login", "value": "root"},
        {"op": "remove", "path": "/stringData/user"},
    )
    world = world_of(keys, encrypted(secret(), to=KEY), builders.override("db", "Secret/db", rule))
    assert [password(world, name) for name in ("password", "user", "login")] == ["c4nary09-patched", None, "root"]
    live = world.body("c1", "Secret", "db")
    assert live["metadata"]["labels"] == {"a": "b"}
    count = applies(world)
    world.restart()
    world.settle()
    assert applies(world) == count


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/metadata/annotations", PayloadText.ENCRYPTED_MORE_DATA_STRINGDATA_SECRETS()),
        ("/stringData/user", PayloadText.ENCRYPTED_VALUE_NO_TEXT_PUT()),
    ],
)
def test_an_override_brings_no_encrypted_value_to_another_object_or_field(keys: Path, path: str, sentence: str) -> None:
    """Else who may read one Secret of a file, and write to the repo, could read them all."""
    stolen = builders.secret("web", "stolen", {"a": "c4nary05-stolen"})
    text = encrypted(stolen, secret(), to=KEY)
    taken = text.split("a: ")[1].split("\n")[0]
    assert taken.startswith("ENC[")
    value: Any = {"a": taken} if path.endswith("annotations") else taken
    rule = builders.override_rule({"op": "add", "path": path, "value": value})
    world = world_of(keys, text, builders.override("db", "Secret/db", rule))
    assert world.live("c1", "Secret", "stolen") is not None
    assert world.live("c1", "ConfigMap", "other") is not None
    assert world.live("c1", "Secret", "db") is None
    assert sentence in everything_recorded(world)


def test_a_secret_that_was_plain_becomes_encrypted_and_plain_again(keys: Path) -> None:
    world = world_of(keys, builders.to_yaml(secret()))
    for text, value in ((encrypted(secret(), to=KEY), FIRST), (encrypted(secret(SECOND), to=KEY), SECOND)):
        world.roll_out(files={PATH: text})
        assert password(world) == value
    world.roll_out(files={PATH: builders.to_yaml(secret("plain"))})
    assert password(world) == "plain"


@pytest.mark.parametrize("refused", [False, True])
def test_a_file_is_decrypted_once_as_it_is_read_and_once_by_each_reconcile_that_applies_it(
    keys: Path, refused: bool
) -> None:
    """However many Secrets it has, and on however many clusters they are; a refusal is an answer, too."""
    calls: list[bytes] = []

    class Counted(AgeDecryptor):
        def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
            calls.append(content)
            return super().values(content)

    several = [builders.secret("web", name, {"password": FIRST}) for name in ("db", "more", "most")]
    applied = builders.rolling_update(maxUnavailable="100%")
    world = World(rules=(QUICK,), decryptor=Counted(keys))
    world.write({PATH: encrypted(*several, to=KEY)})
    world.roll_out(
        *members("c1", "c2", "c3"), builders.namespace("web"), builders.placement("web", "web", strategy=applied)
    )
    assert (len(calls), password(world)) == (2, FIRST)
    if refused:
        keys.write_text(OTHER.line)
    for cluster in world.fleet.clusters.values():
        for body in several:
            cluster.mutate(key_of(body), [{"op": "replace", "path": "/data/password", "value": "eA=="}])
    world.reconcile()
    assert (len(calls), password(world)) == (3, "x" if refused else FIRST)


@pytest.mark.parametrize("fails_from", [1, 2])
def test_a_defect_in_decrypting_concerns_that_object_alone(
    keys: Path, fails_from: int, caplog: pytest.LogCaptureFixture
) -> None:
    """As the file is read, or as the Secret is applied."""
    calls: list[int] = []

    class Defect(AgeDecryptor):
        def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
            calls.append(1)
            if len(calls) >= fails_from:
                raise RuntimeError("c4nary08-quoted")
            return super().values(content)

    world = world_of(keys, encrypted(secret(), to=KEY), decryptor=Defect)
    assert world.live("c1", "Secret", "db") is None
    assert other(world) == "1"
    recorded = everything_recorded(world) + caplog.text
    assert "unexpected RuntimeError (report " in recorded
    assert "c4nary" not in recorded
