"""The page for people: short, and safe against whatever stands in names and messages."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.bindings import ClusterDecision, FailedObject
from gitfleet.api.faults import Severity
from gitfleet.api.freeze_files import Freeze, FreezeRules
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.state import FleetState
from gitfleet.rollout.texts import RolloutText
from gitfleet.status import placement_conditions
from gitfleet.views.kinds import table_of
from gitfleet.views.markdown import code_span
from gitfleet.views.readme import readme_text
from gitfleet.views.texts import ViewsText
from tests.state.builders import CONFIG, T0, binding, cluster, condition, fault, reader_of, record, small_fleet, through
from tests.texts import said

WEB = PlacementKey("", "web")
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a | b", "`code` and ``more``",
    "[click](https://evil.example)", "![x](https://evil.example/x.png)", "https://evil.example www.evil.example",
    "@everyone #1", "line\n\n# Heading\n- item",
    "\u202egnp.exe", "\x1b[31mred", "&lt;b&gt;", "\\`", "|" * 500, "---\nfoo: bar", "a\u2028b",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    failed = FailedObject(key=CONFIG, condition="Applied", reason=text, message=text)
    bad = binding(WEB, "eu-1", conditions=through(text, upto="Applied", last="False"), failed=(failed,))
    state = FleetState(
        observed_commit=text,
        clusters={"eu-1": replace(cluster("eu-1", healthy="False", message=text), labels={"a": text})},
        placements={WEB: record("web", bad)},
        faults=(replace(fault(text), path=text, object=text, field=text),),
    )

    page = readme_text(state)

    lines = page.splitlines()
    assert len(lines) == len(readme_text(replace(state, faults=(fault("x"),))).splitlines())
    assert not re.search("[<>\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", page)
    outside = re.sub(r"`[^`\n]*`", "", page)
    assert not re.search(r"evil|alert|everyone|Heading|onerror|foo|gnp", outside)
    for line in lines:
        if line.startswith("|"):
            assert line.count("|") in (6, 8)


@given(st.text())
def test_a_code_span_is_one_span_whatever_is_in_it(text: str) -> None:
    span = code_span(text)

    assert span == "" or re.fullmatch("`[^`|<>\n\r]+`", span)
    assert len(span) <= 210


def test_the_page_of_the_small_fleet() -> None:
    page = readme_text(small_fleet(), now=T0)

    assert page == said((Path(__file__).parent / "golden" / "README.md").read_text())
    assert "| [`us-1`](clusters/us-1.yaml) | `region=us` | unhealthy: `no answer for 5 minutes` | 0 |  |" in page
    assert "`eu-2` `Available: deployment web is not available` |" in page
    assert ViewsText.ADD_CONFIG_REPO(path="`approvals/hold-web-0123456789.yaml`") in page


def test_an_empty_fleet_has_a_short_page() -> None:
    assert readme_text(FleetState()) == f"# Fleet\n\nThe fleet.\n\n{ViewsText.GITFLEET_WRITES_BRANCH_ITSELF()}\n"


def test_big_fleets_show_what_needs_eyes_first_and_count_the_rest() -> None:
    clusters = {f"c-{n:03d}": cluster(f"c-{n:03d}", healthy="False" if n == 99 else "True") for n in range(100)}
    keys = [PlacementKey("", f"p-{n:02d}") for n in range(60)]
    good = {key: record(key.name, binding(key, "c-000")) for key in keys}
    stuck = record("zz", binding(PlacementKey("", "zz"), "c-000", conditions=through(last="False")))
    faults = tuple(fault(f"number {n}", Severity.WARNING if n else Severity.ERROR) for n in range(70))

    freezes = tuple(Freeze(name=f"f-{n}", owner="ann", reason="sale", until=T0) for n in range(52))

    page = readme_text(
        FleetState(
            clusters=clusters,
            placements={**good, PlacementKey("", "zz"): stuck},
            faults=faults,
            freezes=FreezeRules(freezes=freezes),
        )
    )

    assert "## Clusters: 99 healthy, 1 unhealthy" in page
    assert page.index("[`c-099`]") < page.index("[`c-000`]")
    assert ViewsText.AND_MORE_IN(count=50, path="clusters") in page
    assert "| 61 | `p-00` 0, `p-01` 0, `p-02` 0 and 58 more |" in page
    assert "## Placements: 60 complete, 1 not" in page
    assert page.index("[`zz`]") < page.index("[`p-00`](")
    assert ViewsText.AND_MORE_IN(count=11, path="placements") in page
    assert ViewsText.ERRORS_WARNINGS(count="1 error", count_2="69 warnings") in page
    assert ViewsText.AND_MORE_IN(count=20, path="faults.yaml") in page
    assert ViewsText.AND_MORE_IN(count=2, path="fleet.yaml") in page
    assert len(page) < 25_000


def test_an_unmet_policy_is_what_a_placement_waits_for() -> None:
    base = record("web", binding(WEB, "a"))
    base = replace(base, decisions=(*base.decisions, ClusterDecision(cluster="b", selected=False, reason="tainted")))
    verdict = condition("Scheduled", "False", reason="SchedulingPolicyUnfulfilled", message="could not find all")

    page = readme_text(FleetState(placements={WEB: placement_conditions(base, scheduled=verdict, now=T0)}))

    assert "| 1, unmet | 1/1 | 1/1 | 0 | `SchedulingPolicyUnfulfilled: could not find all` |" in page


def test_a_failed_cluster_is_named_before_those_that_wait_for_it() -> None:
    waiting = binding(WEB, "a", conditions=(condition("RolloutStarted", "False", "RolloutNotStartedYet"),))
    failing = binding(WEB, "b", index=1, conditions=through("boom", upto="Applied", last="False"))

    page = readme_text(FleetState(placements={WEB: record("web", waiting, failing, latest=1)}))

    assert "| 2 | 1/2 | 0/2 | 1 | `b` `Applied: boom` and 1 more |" in page


@pytest.mark.parametrize("through_it", ["", "Applied"], ids=["available", "applying"])
def test_the_page_counts_as_available_what_get_does(through_it: str) -> None:
    """A cluster with an older snapshot counts, as it does for the rollout's budget; one that a new one is on its way to
    does not."""
    moving = through(upto=through_it, last="Unknown") if through_it else through()
    old = (binding(WEB, name) for name in ("a", "b"))
    state = FleetState(placements={WEB: record("web", *old, binding(WEB, "c", index=1, conditions=moving), latest=1)})
    [row] = table_of("placements", reader_of(state), now=T0).rows
    available = "2/3" if through_it else "3/3"
    assert available in row
    assert f"| 3 | 1/3 | {available} | 1 |" in readme_text(state)


def test_an_external_placement_is_not_complete_while_its_clusters_wait_for_a_run() -> None:
    behind = record("web", binding(WEB, "a"), latest=1)
    placement = replace(behind.placement, strategy=RolloutStrategy(type=RolloutStrategyType.EXTERNAL))
    external = placement_conditions(replace(behind, placement=placement), scheduled=behind.conditions[0], now=T0)

    page = readme_text(FleetState(placements={WEB: external}))

    assert "## Placements: 0 complete, 1 not" in page
    assert (
        "`" + RolloutText.CLUSTERS_SNAPSHOT_LATEST(old="0", latest="1", why=(RolloutText.WAITS_RUN_NAMES() + "` |"))
    ) in page


def test_only_errors_keep_a_last_good_version() -> None:
    kept = ViewsText.ERRORS_KEEPS_LAST_GOOD_VERSION()
    assert kept in readme_text(FleetState(faults=(fault("x", Severity.ERROR),)))
    assert kept not in readme_text(FleetState(faults=(fault("x", Severity.WARNING),)))
