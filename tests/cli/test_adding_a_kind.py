"""A kind that is declared is known everywhere: to `validate`, `get` and `schema`, and its last good version is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitfleet.api.kinds import KINDS, Kind
from gitfleet.desired.texts import DesiredText
from tests.api.test_adding_a_kind import FAULTY, SOUND, MaintenancePlan
from tests.cli.conftest import Shell, commit
from tests.desired.commits import read

SECOND = SOUND.replace(b"weekly", b"daily")


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(
        group="example.com",
        name="MaintenancePlan",
        declaration=MaintenancePlan,
        short_names=("mp",),
        versions=("v1",),
        folder="maintenance",
    )
    monkeypatch.setitem(KINDS, ("example.com", "MaintenancePlan"), kind)


def test_validate_says_every_error_with_its_line(gitfleet: Shell, fleet: Path) -> None:
    commit(fleet, {"maintenance/weekly.yaml": FAULTY, "maintenance/empty.yaml": "- 1\n"})

    ended = gitfleet("validate", fleet)

    assert ended.code == 1
    assert [line.partition(": ")[0] for line in ended.out.splitlines() if line.startswith("maintenance/")] == [
        "maintenance/empty.yaml:1", *(f"maintenance/weekly.yaml:{line}" for line in (4, 7, 9, 11, 12)),
    ]  # fmt: skip
    assert "maintenance/weekly.yaml:7: MaintenancePlan/Weekly: spec.windows[0].day: must be one of" in ended.out


def test_a_wrong_version_a_namespace_and_a_misspelt_name_are_errors_too() -> None:
    for right, wrong, sentence in (
        (
            b"com/v1",
            b"com/v7",
            DesiredText.NOT_VERSION_GITFLEET_READS(kind="MaintenancePlan", group="example.com", versions="v1"),
        ),
        (b"{name:", b"{namespace: shop, name:", "does not go with MaintenancePlan, which is a cluster-scoped kind"),
        (b"MaintenancePlan", b"MaintenancPlan", "did you mean MaintenancePlan?"),
    ):
        (fault,) = read({"any/where.yaml": SOUND.replace(right, wrong)}).faults
        assert sentence in fault.message


@pytest.mark.parametrize("word", ["mp", "maintenance", "MaintenancePlans", "maintenanceplan"])
def test_get_lists_it_under_every_word(gitfleet: Shell, fleet: Path, word: str) -> None:
    commit(fleet, {"maintenance/plans.yaml": SOUND + b"---\n" + SECOND})

    assert gitfleet("get", word, "-C", fleet).out.split() == ["NAME", "KIND", "daily", "MaintenancePlan", "weekly",
                                                              "MaintenancePlan"]  # fmt: skip
    assert json.loads(gitfleet("get", word, "weekly", "-C", fleet, "-o", "json").out)["spec"]["windows"] == [
        {"day": "Sat", "length": "90m"}
    ]


def test_schema_knows_it(gitfleet: Shell) -> None:
    assert "MaintenancePlan" in gitfleet("schema").out.split()
    assert json.loads(gitfleet("schema", "mp").out)["title"] == "MaintenancePlan"
    assert "did you mean MaintenancePlan?" in gitfleet("schema", "MaintenancPlan").err


def test_the_last_good_version_is_kept() -> None:
    before = {"maintenance/plan.yaml": SOUND}
    sound = read(before).objects["maintenance"]

    for spoilt in (SOUND.replace(b"Sat", b"Sun"), SOUND.replace(b"spec:", b"spec: {")):
        kept = read({"maintenance/plan.yaml": spoilt}, before=before)
        assert (kept.objects["maintenance"], len(kept.faults)) == (sound, 1)
        assert [version.documents for version in kept.last_good["maintenance/plan.yaml"]] == [(0,)]
