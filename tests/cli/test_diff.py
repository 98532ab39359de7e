"""`gitfleet diff`: clusters against what they are to have, and one snapshot against another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitfleet.cli.texts import CliText
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, commit

GREETING = Path("resources/web/web.yaml")


@pytest.fixture
def here(gitfleet: Shell, fleet: Path) -> Path:
    """A settled repo whose simulated clusters are its own."""
    assert gitfleet("run", "--until-settled", fleet).code == 0
    return fleet


def with_greeting(repo: Path, old: str, new: str) -> None:
    text = (repo / GREETING).read_text(encoding="utf-8")
    assert old in text
    commit(repo, {str(GREETING): text.replace(old, new)}, f"Say {new}")


def test_the_clusters_differ_until_the_rollout_has_reached_them(gitfleet: Shell, here: Path) -> None:
    same = gitfleet("diff", "web", "-C", here, "--detailed-exitcode")
    assert (same.code, same.out, same.err) == (
        0,
        ("eu-west-1, us-east-1: " + CliText.NO_DIFFERENCE(count="4 objects") + "\n"),
        "",
    )

    with_greeting(here, "Hello from gitfleet", "Good morning")
    differs = gitfleet("diff", "web", "-C", here, "--detailed-exitcode")
    assert (differs.code, differs.err) == (2, "")
    assert differs.out.splitlines() == [
        "eu-west-1: 1 of 4 objects differ",
        "  ConfigMap/web/web-settings differs",
        "    /data/greeting",
        "      - Hello from gitfleet",
        "      + Good morning",
        ("us-east-1: " + CliText.NO_DIFFERENCE(count="4 objects")),
    ]
    one = gitfleet("diff", "web", "us-east-1", "-C", here, "--rev", "main")
    assert (one.code, one.out) == (0, ("us-east-1: " + CliText.NO_DIFFERENCE(count="4 objects") + "\n"))

    gitfleet("run", "--until-settled", here)
    document = json.loads(gitfleet("diff", "web", "-C", here, "-o", "json").out)
    assert [(c["clusterName"], c["same"], c["objects"]) for c in document["clusters"]] == [
        ("eu-west-1", 4, []),
        ("us-east-1", 4, []),
    ]
    between = gitfleet("diff", "web", "--snapshots", "0", "1", "-C", here, "--detailed-exitcode")
    assert (between.code, between.out.splitlines()) == (
        2,
        [
            "  ConfigMap/web/web-settings is changed",
            "    /data/greeting",
            "      - Hello from gitfleet",
            "      + Good morning",
            "1 of 4 objects differ",
        ],
    )


def test_objects_that_are_new_or_go_and_clusters_that_are_new(gitfleet: Shell, here: Path) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: web}\n"
    text = (here / GREETING).read_text(encoding="utf-8")
    kept = "---\n".join(part for part in text.split("---\n") if "kind: Service\n" not in part)
    assert kept != text
    commit(here, {str(GREETING): kept, "resources/web/more.yaml": settings})

    lines = gitfleet("diff", "web", "eu-west-1", "-C", here).out.splitlines()
    assert lines[1:] == [
        ("  ConfigMap/web/more " + ViewsText.NOT_CLUSTER()),
        ("  Service/web/web " + ViewsText.CLUSTER_NO_LONGER_WANTED()),
    ]
    gitfleet("run", "--once", here)
    between = gitfleet("diff", "web", "--snapshots", "0", "1", "-C", here).out.splitlines()
    assert between == ["  ConfigMap/web/more is added", "  Service/web/web is removed", "2 of 5 objects differ"]
    back = gitfleet("diff", "web", "--snapshots", "1", "0", "-C", here).out.splitlines()
    assert back == ["  Service/web/web is added", "  ConfigMap/web/more is removed", "2 of 5 objects differ"]


def test_a_cluster_that_cannot_be_asked_is_an_error_and_the_others_are_compared(gitfleet: Shell, here: Path) -> None:
    config = here / "unreachable"
    config.write_text("not: [a kubeconfig")
    member = (here / "clusters/us-east-1.yaml").read_text(encoding="utf-8")
    commit(here, {"clusters/us-east-1.yaml": member.replace("simulated: true", "context: nowhere")})

    ended = gitfleet("diff", "web", "-C", here)
    assert (ended.code, ended.out) == (1, ("eu-west-1: " + CliText.NO_DIFFERENCE(count="4 objects") + "\n"))
    assert ended.err.startswith("error: us-east-1 " + ViewsText.NOT_COMPARED() + ": ")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "talk"),
    [
        (("wbe",), ("error: " + ViewsText.NO_PLACEMENT(name="wbe"))),
        (("web", "eu-wst-1"), "error: web has nothing on a cluster eu-wst-1\nhint: did you mean eu-west-1?\n"),
        (("web", "--snapshots", "0", "9"), "error: web has no snapshot 9\nhint: snapshots: 0\n"),
        (("web", "eu-west-1", "--snapshots", "0", "0"), "error: --snapshots compares two snapshots"),
    ],
)
def test_what_is_not_there_is_said(gitfleet: Shell, settled: Path, words: tuple[str, ...], talk: str) -> None:
    ended = gitfleet("diff", *words, "-C", settled)

    assert (ended.code, ended.out) == (1, "")
    assert talk in ended.err
