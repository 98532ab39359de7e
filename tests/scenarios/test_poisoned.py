"""Poisoned files (poisoned.yaml), each in one commit with a sound edit of something else, on a settled fleet: the
process lives, a sentence with its path names the cause, the edit goes out, nothing is deleted, and the revert heals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gitfleet.loop.driver import Driver
from gitfleet.model.failures import Failure
from tests import builders, texts
from tests.payload.test_kustomize_rollout import BuiltWorld
from tests.properties.mutating import seen
from tests.scenarios.test_faulty_commits import override

POISONED: Final = yaml.safe_load((Path(__file__).parent / "poisoned.yaml").read_text(encoding="utf-8"))
OTHER: Final = "resources/other/deployment-web.yaml"
CHUNKS: Final = 6


def sound_files() -> dict[str, str]:
    """A fleet with the files that are poisoned."""
    config = builders.fleet_config(interval="30s")
    bodies = [
        builders.member_cluster("c1"), builders.member_cluster("c2"), override("greeting"), config,
        builders.namespace("web"), builders.deployment("web", "web"),
        builders.config_map("web", "settings", {"greeting": "hello"}), builders.placement("web"),
        builders.namespace("other"), builders.deployment("other", "web", image="web:1"), builders.placement("other"),
        builders.namespace("built"), builders.placement("built"),
    ]  # fmt: skip
    return {
        **builders.repo_files_for(*bodies),
        "resources/kust/kustomization.yaml": "resources: [a.yaml]\n",
        "resources/kust/a.yaml": builders.to_yaml(builders.config_map("built", "a", {"k": "1"})),
    }


def content_of(row: Mapping[str, Any], files: Mapping[str, str]) -> bytes:
    """The bytes of the poisoned file."""
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    text = "".join(part * times for part, times in row.get("parts", [[row.get("text", ""), 1]]))
    if "replace" in row:
        assert row["replace"] in files[row["at"]], files[row["at"]]
        text = files[row["at"]].replace(row["replace"], text)
    return text.encode(row.get("encode", "utf-8"))


def path_of(row: Mapping[str, Any]) -> str:
    """Where the file lies; names that are too long for the table are made here."""
    if "deep" in row:
        return "resources/" + "d/" * int(row["deep"]) + "x.yaml"
    return str(row["at"]).replace("NAME", "n" * int(row.get("long", 0)))


class Fleet:
    """The settled fleet, poisoned and healed again and again."""

    def __init__(self) -> None:
        self.reports: list[Failure] = []
        self.files = sound_files()
        self.world = BuiltWorld(start_with=self._listen)
        self.sound = self.world.write(self.files)
        self.world.settle()
        self.clean = seen(self.world)
        assert not self.clean["faults"] and self.world.image_in("c2", "other") == "web:1"

    def _listen(self, driver: Driver) -> None:
        driver.failures.save = self.reports.append

    def poison(self, row: Mapping[str, Any], image: str) -> None:
        """The file and a sound edit, in one commit as the process sees it."""
        path, edit = path_of(row), {OTHER: builders.to_yaml(builders.deployment("other", "web", image=image))}
        removed = {gone: None for gone in self.files if "remove" in row and gone.startswith(row["remove"])}
        self.world.write({**edit, **removed})
        if "mode" in row or not path.isprintable():
            mode, now = row.get("mode", "100644"), self.world.clock.now()
            self.world.repo.put_entry("main", path, mode, content_of(row, self.files), now)
        else:
            self.world.repo.commit_files("main", {path: content_of(row, self.files)}, self.world.clock.now())

    def heal(self) -> None:
        """The tree as it was; a name that no commit of ours can have goes with its commit."""
        there = self.world.repo.files("main")
        if any(not path.isprintable() for path in there):
            self.world.repo.move_branch("main", self.sound)
        else:
            self.world.write({**dict.fromkeys(there), **self.files})

    def judge(self, row: Mapping[str, Any], image: str) -> None:
        """Poison, look, heal, look."""
        self.reports.clear()
        self.poison(row, image)
        with self.world.nothing_deleted():
            self.world.settle()
            faults = self.world.state().faults
            self.named = named = [fault for fault in faults if fault.path == row.get("names", path_of(row))]
            assert named or row["says"] is None, f"nothing names it: {[str(fault)[:200] for fault in faults]}"
            says = row["says"] and texts.said(row["says"])
            assert says is None or any(says in fault.message for fault in named), said(named)
            assert says is not None or not named, said(named)
            assert self.world.image_in("c1", "other") == self.world.image_in("c2", "other") == image
            validated = self.world.driver.repository.desired_trees.at(
                self.world.repo.fetch()["main"], self.world.state()
            ).faults
            assert {(f.path, f.line) for f in named} <= {(f.path, f.line) for f in validated}, said(validated)
            self.heal()
            self.world.settle()
        assert seen(self.world) == self.clean
        assert [report.report for report in self.reports if report.trace] == []


def said(faults: Any) -> list[str]:
    """What faults say, in a readable length."""
    return [f"{fault.path[:60]!r}:{fault.line}: {fault.message[:300]}" for fault in faults]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_poisoned_file_harms_nothing_beside_it(chunk: int) -> None:
    fleet = Fleet()
    for number, row in enumerate(POISONED[chunk::CHUNKS]):
        try:
            fleet.judge(row, f"web:{number + 2}")
        except Exception as error:
            raise AssertionError(f"{row['file']}: {error!r}") from error
