"""`gitfleet simulate`: the timeline in text, as JSON, and as a page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

from gitfleet.api.texts import ApiText
from gitfleet.cli import timeline_page
from gitfleet.cli.progress import Lines, when_of
from gitfleet.cli.texts import CliText
from gitfleet.formats.texts import FormatsText
from gitfleet.model.events import Event, EventType
from gitfleet.observe.texts import ObserveText
from gitfleet.rollout.texts import RolloutText
from gitfleet.status.texts import StatusText
from tests import builders
from tests.cli.conftest import Shell, commit, git
from tests.sops_files import AgeKey, encrypted
from tests.texts import said

BAD_IMAGE = """\
apiVersion: gitfleet.dev/v1alpha1
kind: Scenario
spec:
  clusters:
    - {names: [us-east-1], object: {kind: Deployment, name: web}, available: never}
  timeline:
    - {at: 90s, cluster: {name: eu-north-1, state: unreachable}}
    - {at: 100s, crash: reconciler}
"""
GOLDEN = said("""\
     0s  eu-north-1: healthy
     0s  eu-west-1: healthy
     0s  us-east-1: healthy
     0s  us-lab-1: healthy
     0s  monitoring: snapshot 0 taken
     0s  monitoring: [[cli.GETS_SNAPSHOT|[[status.PICKED|eu-north-1]]|0]]
     0s  monitoring: [[cli.GETS_SNAPSHOT|[[status.PICKED|eu-west-1]]|0]]
     0s  monitoring: [[cli.GETS_SNAPSHOT|[[status.PICKED|us-east-1]]|0]]
     0s  monitoring: [[cli.GETS_SNAPSHOT|[[status.PICKED|us-lab-1]]|0]]
     0s  monitoring: Scheduled is True: [[schedule.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED|4]]
     0s  web: snapshot 0 taken
     0s  web: [[cli.GETS_SNAPSHOT|[[status.PICKED|eu-west-1]]|0]]
     0s  web: [[cli.GETS_SNAPSHOT|[[status.PICKED|us-east-1]]|0]]
     0s  web: Scheduled is True: [[schedule.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED|2]]
     0s  monitoring: eu-north-1: 4 objects created
     0s  monitoring: eu-west-1: 4 objects created
     0s  web: eu-west-1: 4 objects created
     0s  monitoring: us-east-1: 4 objects created
     0s  web: us-east-1: 4 objects created
     0s  monitoring: us-lab-1: 4 objects created
     0s  monitoring: [[status.UPDATED_SNAPSHOT|eu-north-1|0]]
     0s  monitoring: [[status.UPDATED_SNAPSHOT|eu-west-1|0]]
     0s  monitoring: [[status.UPDATED_SNAPSHOT|us-east-1|0]]
     0s  monitoring: [[status.UPDATED_SNAPSHOT|us-lab-1|0]]
     0s  web: [[status.UPDATED_SNAPSHOT|eu-west-1|0]]
     0s  web: [[status.UPDATED_SNAPSHOT|us-east-1|0]]
     5s  monitoring: eu-north-1 available
     5s  monitoring: eu-west-1 available
     5s  monitoring: us-east-1 available
     5s  monitoring: us-lab-1 available
     5s  monitoring: Available is True: [[status.SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW|4]]
     5s  web: eu-west-1 available
     5s  web: us-east-1 available
     5s  web: Available is True: [[status.SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW|2]]

PLACEMENT    CLUSTER      SNAPSHOT   AVAILABLE
monitoring   eu-north-1   0          yes
monitoring   eu-west-1    0          yes
monitoring   us-east-1    0          yes
monitoring   us-lab-1     0          yes
web          eu-west-1    0          yes
web          us-east-1    0          yes
""")


def test_the_whole_text(gitfleet: Shell, fleet: Path) -> None:
    refs = git(fleet, "for-each-ref")
    ended = gitfleet("simulate", fleet)

    assert (ended.code, ended.out, ended.err) == (0, GOLDEN, (CliText.NOTHING_MOVES_ANY_MORE() + ", at 5s\n"))
    assert git(fleet, "for-each-ref") == refs


def test_it_starts_from_the_state_branch_unless_told_otherwise(gitfleet: Shell, settled: Path) -> None:
    """There is nothing to do in a settled fleet."""
    assert gitfleet("simulate", settled).out == GOLDEN[GOLDEN.index("\nPLACEMENT") :]
    assert gitfleet("simulate", settled, "--from", "empty").out == GOLDEN


def test_secrets_that_sops_encrypted_are_placed_without_a_key(gitfleet: Shell, fleet: Path) -> None:
    """Several in one file, as `data` and as `stringData`: the clusters get values, and nobody had to decrypt any."""
    data = {**builders.an_object("v1", "Secret", "a", namespace="web"), "data": {"a": "YQ==", "b": "Yg=="}}
    text = encrypted(data, builders.secret("web", "b", {"a": "hunter2!", "b": ""}), to=AgeKey())
    commit(fleet, {"resources/web/db.yaml": text})
    ended = gitfleet("simulate", fleet)
    assert (ended.code, ended.err) == (0, (CliText.NOTHING_MOVES_ANY_MORE() + ", at 5s\n"))
    wanted = GOLDEN
    for cluster in ("eu-west-1", "us-east-1"):
        wanted = wanted.replace(f"web: {cluster}: 4 objects", f"web: {cluster}: 6 objects")
    assert ended.out == wanted


def test_jsonl_and_json_hold_the_same_timeline(gitfleet: Shell, fleet: Path) -> None:
    lines = [json.loads(line) for line in gitfleet("simulate", fleet, "-o", "jsonl").out.splitlines()]
    document = json.loads(gitfleet("simulate", fleet, "-o", "json").out)

    assert document == {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "Timeline", "events": lines}
    assert lines[-1]["type"] == "end" and lines[-1]["reason"] == "settled"
    assert lines[-1]["placements"]["web"]["clusters"]["us-east-1"] == {"snapshot": "0", "available": True}
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)


def test_a_rollout_that_gets_stuck_says_where(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "bad.yaml"
    scenario.write_text(BAD_IMAGE)
    ended = gitfleet("simulate", fleet, "--scenario", scenario)

    assert ended.code == 1
    assert "web          us-east-1    0          no\n" in ended.out
    assert ("   100s  " + CliText.GITFLEET_CRASHES_RESTARTS() + "\n") in ended.out
    failed = ObserveText.IS_NOT(first="Deployment/web/web", verb="available", why="", more_than_first="")
    stuck = "us-east-1 " + RolloutText.IS_NOT(step="Available", condition=failed)
    assert f"waiting: web: {stuck}" in ended.err


def test_a_removal_that_waits_is_named_at_the_end(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "gone.yaml"
    scenario.write_text(
        "kind: Scenario\napiVersion: gitfleet.dev/v1alpha1\nspec:\n  timeline:\n"
        "    - {at: 60s, remove: {path: placements/monitoring.yaml}}\n"
    )
    ended = gitfleet("simulate", fleet, "--scenario", scenario)
    assert ended.code == 1, ended.err
    assert "waiting: held: hold-monitoring-" in ended.err
    assert "16 placed objects on eu-north-1, eu-west-1, us-east-1 and 1 more (StillInRepo, Emptied, " in ended.err


def test_scenarios_that_cannot_be_played(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "bad.yaml"
    scenario.write_text("apiVersion: gitfleet.dev/v1alpha1\nkind: Scenario\nspec: {clusters: [{}], maxTme: 1h}\n")
    faulty, absent = (
        gitfleet("simulate", fleet, "--scenario", scenario),
        gitfleet("simulate", fleet, "--scenario", "nope"),
    )

    assert faulty.code == absent.code == 1
    assert (
        f"{scenario}:3: Scenario: spec.maxTme: " + ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near="maxTime"))
    ) in faulty.err
    assert "nope cannot be read: No such file or directory" in absent.err


class Page(HTMLParser):
    """Reads a page and insists that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page(gitfleet: Shell, fleet: Path, tmp_path: Path) -> None:
    scenario, saved = tmp_path / "bad.yaml", tmp_path / "timeline.html"
    scenario.write_text(BAD_IMAGE)
    ended = gitfleet("simulate", fleet, "--scenario", scenario, "--save", saved)
    page = Page(saved.read_text(encoding="utf-8"))

    assert ended.err.endswith(CliText.TIMELINE_IS_IN(file=f"{saved}\n"))
    assert page.open == []
    assert {"script", "img", "link", "iframe"}.isdisjoint(tag for tag, _ in page.seen)
    bars = [attributes for tag, attributes in page.seen if tag == "i" and "title" in attributes]
    assert ("available", "5s to ") in [(bar["class"], str(bar["title"])[:6]) for bar in bars]
    assert all(line in page.words for line in ended.out.split("\n\n")[0].splitlines())
    assert gitfleet("simulate", fleet, "--save", scenario / "x.html").code == 1


def test_the_page_escapes_every_text() -> None:
    name = "<script>alert(1)</script>\"'&"
    events = [
        (0.0, Event(type=EventType.SCHEDULED, placement=name, cluster=name, fields={"state": "Scheduled"})),
        (
            5.0,
            Event(
                type=EventType.FAILED,
                placement=name,
                cluster=name,
                fields={"condition": "Applied", "reason": name, "message": name},
            ),
        ),
        (9.0, Event(type=EventType.END, fields={"reason": "settled", "placements": {}})),
    ]
    page = Page(timeline_page.page_of(events))

    assert page.open == [] and "script" not in {tag for tag, _ in page.seen}
    assert name in page.words


def test_a_page_of_nothing() -> None:
    assert Page(timeline_page.page_of([])).open == []


def test_the_lines_of_events() -> None:
    reported: list[str] = []
    applied = {"condition": "Applied", "reason": "r", "message": "m"}
    lines = Lines(reported.append)
    for event in (
        Event(type=EventType.SCHEDULED, placement="web", cluster="c1", fields={"state": "Scheduled"}),
        Event(type=EventType.SCHEDULED, placement="web", cluster="c2", fields={"state": "Scheduled"}),
        Event(type=EventType.BOUND, placement="web", cluster="c2", fields={"state": "Bound", "snapshot": "3"}),
        Event(type=EventType.APPLIED, placement="web", cluster="c2", fields={"action": "create"}),
        Event(type=EventType.APPLIED, placement="web", cluster="c1", fields={"action": "delete"}),
        Event(type=EventType.APPLIED, placement="web", cluster="c2", fields={"action": "update"}),
        Event(type=EventType.APPLIED, placement="web", cluster="c2", fields={"action": "update"}),
        Event(type=EventType.COMMIT, fields={"branch": "gitfleet/state", "subject": "untold"}),
        Event(type=EventType.COMMIT, fields={"branch": "main", "subject": "told"}),
        Event(type=EventType.PLACEMENT, placement="web", fields={**applied, "status": "True"}),
        Event(type=EventType.PLACEMENT, placement="web", fields={**applied, "status": "False"}),
    ):  # fmt: skip
        lines.on_event(event)
    lines.finish()

    assert reported == [
        f"web: {StatusText.PICKED(cluster='c1')}",
        CliText.GETS_SNAPSHOT(line_of=f"web: {StatusText.PICKED(cluster='c2')}", fields="3"),
        "web: c2: 1 object created, 2 updated",
        "web: c1: 1 object deleted",
        "commit on main: told",
        "web: Applied is False: m",
    ]


def test_moments() -> None:
    assert [when_of(at) for at in (None, 0, 119.9, 120, 7199, 7200, 90000)] == [
        "", "     0s  ", "   119s  ", "  2m00s  ", "119m59s  ", "  2h00m  ", " 25h00m  ",
    ]  # fmt: skip
