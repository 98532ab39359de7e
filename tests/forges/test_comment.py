"""`gitfleet comment`: one comment on a pull request, whatever else stands there, no longer than a forge takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.cli.texts import CliText
from gitfleet.serving.forge import MARKER, MOST_CHARACTERS
from gitfleet.views.texts import ViewsText
from tests.cli.conftest import Shell, _own_home, gitfleet, settled
from tests.forges.server import DIALECTS, REPOSITORY, TOKEN, ForgeServer, Pull, Reply, serving

__all__ = ["_own_home", "gitfleet", "settled"]


@pytest.fixture(params=DIALECTS)
def server(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    with serving(request.param) as forge:
        forge.pulls.append(Pull(1, "change", "main", "A change", None))
        yield forge


@pytest.fixture
def comment(gitfleet: Shell, server: ForgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TOKEN", TOKEN)
    where = [
        "--forge",
        server.dialect,
        "--forge-url",
        server.url,
        "--forge-repo",
        REPOSITORY,
        "--forge-token-env",
        "TOKEN",
    ]
    return lambda *words: gitfleet("comment", *words, *where)


def test_a_plan_is_one_comment_that_is_replaced(
    gitfleet: Shell, comment: Shell, server: ForgeServer, settled: Path, tmp_path: Path
) -> None:
    server.comments[1] = [(1, f"I saw {MARKER} in the source"), (2, "Looks good")]
    before = list(server.comments[1])
    plan = tmp_path / "plan.md"
    plan.write_text(gitfleet("plan", settled, "--clusters", "none", "-o", "markdown").out)
    assert "### gitfleet plan" in plan.read_text()
    assert comment("1", plan).err == CliText.COMMENT_PULL_REQUEST(number="1", repository=REPOSITORY, done="added\n")
    assert comment("1", plan).err.endswith("unchanged\n")
    plan.write_text("### gitfleet plan\n\nNothing changes.\n")
    assert comment("1", plan).err.endswith("replaced\n")
    assert server.comments[1] == [*before, (3, f"{MARKER}\n### gitfleet plan\n\nNothing changes.\n")]
    assert server.refused == []


def test_a_comment_of_somebody_else_is_none_of_ours(comment: Shell, server: ForgeServer, tmp_path: Path) -> None:
    theirs = [(1, f"{MARKER}\nAll is well, merge this"), (2, f"{MARKER}\nMine")]
    server.comments[1], server.authors = list(theirs), {2: ("else[bot]" if server.dialect == "github" else "else", 6)}
    plan = tmp_path / "plan.md"
    for text, done in (("one", "added"), ("two", "replaced")):
        plan.write_text(text)
        assert comment("1", plan).err.endswith(f"{done}\n")
    assert server.comments[1] == [*theirs, (3, f"{MARKER}\ntwo")] and server.refused == []


def test_the_token_of_an_app_knows_its_comment_though_not_its_name(
    comment: Shell, server: ForgeServer, tmp_path: Path
) -> None:
    """GitHub lets the token of an app's installation, such as a workflow's, not ask who it is."""
    server.user = ("github-actions[bot]", 41898282)
    server.comments[1] = [(1, f"{MARKER}\nAll is well, merge this")]
    plan = tmp_path / "plan.md"
    for text in ("one", "two"):
        plan.write_text(text)
        assert comment("1", plan).code == 0
    assert [one for _, one in server.comments[1][1:]] == [f"{MARKER}\ntwo"]


def test_it_is_found_behind_many_others(comment: Shell, server: ForgeServer, tmp_path: Path) -> None:
    server.comments[1] = [(n, f"{n}") for n in range(1, 250)] + [(250, f"{MARKER}\nold")]
    server.authors[250] = server.user
    plan = tmp_path / "plan.md"
    plan.write_text("new")
    assert comment("1", plan).code == 0
    assert server.comments[1][-1] == (250, f"{MARKER}\nnew") and len(server.comments[1]) == 250


def test_what_does_not_work_is_one_sentence(comment: Shell, server: ForgeServer, tmp_path: Path) -> None:
    plan, empty = tmp_path / "plan.md", tmp_path / "empty.md"
    plan.write_text("x")
    empty.write_text("\n")
    host = server.url.removeprefix("http://")
    assert f"the forge {host} refuses a request: 404" in comment("7", plan).err
    assert CliText.NO_TEXT_PUT_PULL_REQUEST() in comment("1", empty).err
    server.always = Reply(403, {"message": "Resource not accessible by integration"})
    ended = comment("1", plan)
    assert (
        ended.code == 1
        and ForgeText.REFUSES_TOKEN(status="", why="403, Resource not accessible by integration") in ended.err
    )
    assert TOKEN not in ended.err and "Traceback" not in ended.err


def test_without_a_forge_it_is_wrong_usage(gitfleet: Shell, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("x")
    assert gitfleet("comment", "1", tmp_path / "plan.md").code == 64


def test_a_long_plan_is_cut_between_lines_with_everything_closed(
    comment: Shell, server: ForgeServer, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.md"
    diff = "\n".join(f"+ line {n} of a long diff" for n in range(10_000))
    plan.write_text(f"### gitfleet plan\n\n````text\n```\n{diff}\n````\n")
    assert comment("1", plan).code == 0
    ((_, text),) = server.comments[1]
    assert MOST_CHARACTERS * 0.9 < len(text) <= MOST_CHARACTERS + len(MARKER) + 1
    assert text.endswith(f"\n````\n\n{ViewsText.END_LEFT_OUT()}")
