"""Leader election over one lease: at no moment two leaders, whatever is slow, lost or suspended; and who takes over."""

from __future__ import annotations

import logging
import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import ClusterUnreachable, Forbidden, GitfleetError, Stopped
from gitfleet.loop.election import Election, FencedWriter
from gitfleet.loop.texts import LoopText
from gitfleet.ports.leases import LeaseRecord
from gitfleet.ports.repos import BranchChange
from gitfleet.settings import LeaseTerms
from gitfleet.simulation.clock import DEFAULT_START, ManualClock

TERMS = LeaseTerms()


@dataclass
class Server:
    """The one lease that all see; `time` is the true one, in seconds."""

    record: LeaseRecord | None = None
    time: float = 0.0
    version: int = 0
    error: GitfleetError | None = None

    def put(self, holder: str, seconds: float) -> LeaseRecord:
        self.version += 1
        self.record = LeaseRecord(
            holder=holder, seconds=seconds, transitions=0, renewed=str(self.version), body={"version": self.version}
        )
        return self.record


@dataclass
class Seen:
    """The lease as one process reaches it: `delay` is called before and after the server does what it is asked."""

    server: Server
    delay: Callable[[], None] = lambda: None
    closed: bool = False

    def __str__(self) -> str:
        return "Lease ns/name"

    def read(self) -> LeaseRecord | None:
        self._wait()
        found = self.server.record
        self.delay()
        return found

    def write(self, holder: str, seconds: float, over: LeaseRecord | None) -> LeaseRecord | None:
        self._wait()
        have = self.server.record
        same = have is over if have is None or over is None else have.body == over.body
        written = self.server.put(holder, seconds) if same else None
        self.delay()
        return written

    def close(self) -> None:
        self.closed = True

    def _wait(self) -> None:
        if self.server.error is not None:
            raise self.server.error
        self.delay()


@dataclass
class Process:
    """One candidate, whose clock began at another moment than the others'."""

    name: str
    server: Server
    offset: float = 0.0
    optional: bool = False
    terms: LeaseTerms = TERMS
    changes: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seen = Seen(self.server)
        clock = _Offset(self.server, self.offset)
        self.election = Election(
            self.seen, self.name, self.terms, clock, optional=self.optional,
            changed=lambda: self.changes.append(self.server.time),
        )  # fmt: skip

    def tries(self) -> bool:
        self.election.try_once()
        return self.election.leads()


class _Offset(ManualClock):
    def __init__(self, server: Server, offset: float) -> None:
        super().__init__(DEFAULT_START + timedelta(seconds=offset))
        self.server, self.offset = server, offset

    def monotonic(self) -> float:
        return self.server.time + self.offset


def two() -> tuple[Server, Process, Process]:
    server = Server()
    return server, Process("a", server), Process("b", server, offset=5000.0)


def both(one: Process, other: Process) -> None:
    one.tries()
    other.tries()


def test_one_leads_and_another_takes_over_when_the_lease_has_run_out() -> None:
    server, a, b = two()
    assert (a.tries(), b.tries()) == (True, False)
    for _ in range(20):
        server.time += TERMS.retry
        assert (a.tries(), b.tries()) == (True, False)
    last = server.time  # a is gone from here on
    while not b.tries():
        assert server.time - last <= TERMS.duration + TERMS.retry
        server.time += TERMS.retry
    assert server.time - last >= TERMS.duration
    assert b.changes == [server.time]
    assert not a.election.leads()


@pytest.mark.parametrize(("seconds", "lasts"), [(60.0, 60.0), (4.0, 4.0), (0.0, TERMS.duration)])
def test_a_lease_lasts_as_long_as_its_holder_says(seconds: float, lasts: float) -> None:
    """Where it says nothing, as long as this process's own would."""
    server, _, b = two()
    server.put("a", seconds)
    assert not b.tries()
    server.time += lasts - 0.1
    assert not b.tries()
    server.time += 0.1
    assert b.tries()


def test_a_leader_says_its_own_duration_and_stops_by_its_own_deadline() -> None:
    server = Server()
    patient = Process("a", server, terms=LeaseTerms.of(60.0))
    server.put("", 4.0)  # what the one before left
    assert patient.tries()
    assert server.record is not None
    assert server.record.seconds == 60.0
    server.time += 39.9
    assert patient.election.leads()
    server.time += 0.2
    assert not patient.election.leads()


def test_a_leader_that_cannot_renew_stops_before_its_lease_runs_out() -> None:
    server, a, b = two()
    both(a, b)
    server.error = ClusterUnreachable("the API server of the lease did not answer")
    server.time += TERMS.renew - 0.1
    assert a.tries()
    server.time += 0.2
    assert not a.tries()
    server.error = None
    assert (b.tries(), a.tries()) == (False, True), "it has not run out yet, and nobody took it meanwhile"


def test_a_released_lease_is_taken_at_once_and_the_old_leader_never_acts_again() -> None:
    server, a, b = two()
    both(a, b)
    a.election.stop()
    assert not a.election.leads() and a.seen.closed
    assert server.record is not None and server.record.holder == ""
    assert b.tries()
    assert not a.tries()


def test_a_suspended_leader_wakes_up_as_a_follower() -> None:
    server, a, b = two()
    both(a, b)
    server.time += 3600.0
    assert not a.election.leads(), "before it has asked anybody"
    assert b.tries()
    assert not a.tries()


def test_a_renewal_whose_response_is_lost_ends_no_term() -> None:
    server, a, _ = two()
    a.tries()
    server.put("a", TERMS.duration)
    server.time += TERMS.retry
    assert a.tries() and a.changes == [0.0]


def test_a_lease_that_is_deleted_or_given_to_somebody_else() -> None:
    server, a, b = two()
    a.tries()
    server.record = None
    assert a.tries()
    server.put("b", TERMS.duration)
    assert (a.tries(), b.tries()) == (False, True)


def test_what_nobody_renews_is_not_kept_by_an_edit_of_something_else() -> None:
    server, a, b = two()
    both(a, b)
    for _ in range(8):
        server.time += TERMS.retry
        assert server.record is not None
        server.version += 1
        server.record = replace(server.record, body={"version": server.version})
        b.tries()
    assert b.election.leads()


def test_a_lease_that_may_not_be_used(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    forbidden = KubeText.GITFLEET_NOT(verb="read", name="Lease ns/name")
    server = Server(error=Forbidden(forbidden))
    wanted, optional = Process("a", server), Process("b", server, optional=True)
    assert not wanted.tries() and not wanted.tries()
    assert not optional.election.try_once(), "no election at all"
    assert optional.election.leads() and optional.changes
    assert [one.message for one in caplog.records] == [
        LoopText.LEADER_ELECTION_GOES_TRYING(sentence=forbidden),
        LoopText.NO_LEADER_ELECTION() % forbidden,
    ]


def test_a_server_that_is_away_is_said_once_and_the_end_of_the_term_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server, a, _ = two()
    both(a, a)
    server.error = ClusterUnreachable("it did not answer")
    for _ in range(20):
        server.time += TERMS.retry
        a.tries()
    server.error = None
    both(a, a)
    assert caplog.messages == [
        LoopText.LEADING_HELD(lease="Lease ns/name", identity="a"),
        LoopText.LEADER_ELECTION_GOES_TRYING(sentence="it did not answer"),
        LoopText.STANDING_NOT_RENEWED_TIME(lease="Lease ns/name"),
        LoopText.LEADING_HELD(lease="Lease ns/name", identity="a"),
    ]


@pytest.mark.parametrize("seed", range(150))
def test_never_two_leaders_whatever_is_slow_or_suspended(seed: int) -> None:
    """Each request takes up to a minute before and after the server does it, and the others go on meanwhile."""
    chance, server = random.Random(seed), Server()
    processes = [Process(name, server, offset=chance.uniform(0, 1e6)) for name in "abc"]
    depth = terms = 0

    def check() -> None:
        leading = [process.name for process in processes if process.election.leads()]
        assert len(leading) <= 1, (seed, server.time, leading)

    def delay() -> None:
        nonlocal depth
        server.time += chance.choice((0.0, 0.1, 2.0, chance.uniform(0, 60)))
        check()
        if depth < 2 and chance.random() < 0.4:
            depth += 1
            act(chance.choice([p for p in processes if p not in under_way]))
            depth -= 1

    under_way: list[Process] = []

    def act(process: Process) -> None:
        nonlocal terms
        under_way.append(process)
        server.error = ClusterUnreachable("away") if chance.random() < 0.1 else None
        terms += process.tries()
        under_way.remove(process)
        check()

    for process in processes:
        process.seen.delay = delay
    for _ in range(60):
        server.time += chance.choice((0.5, TERMS.retry, TERMS.renew, TERMS.duration))
        act(chance.choice(processes))
    assert terms


def test_a_fenced_writer_moves_no_branch_once_its_process_does_not_lead() -> None:
    done: list[str] = []

    class Writer:
        def commit(self, change: BranchChange) -> str:
            done.append(change.branch)
            return "new"

        def remove_branch(self, branch: str, expected: str) -> None:
            done.append(branch)

    leads = True
    writer = FencedWriter(Writer(), lambda: leads)
    change = BranchChange(branch="s", expected=None, subject="x", when=DEFAULT_START)
    writer.commit(change)
    writer.remove_branch("r", "old")
    leads = False
    with pytest.raises(Stopped, match=re.escape(LoopText.NOT_MOVED_PROCESS_NOT_LEAD(branch="s"))):
        writer.commit(change)
    with pytest.raises(Stopped):
        writer.remove_branch("r", "old")
    assert done == ["s", "r"]


def test_a_renewal_that_is_under_way_at_the_end_neither_leads_nor_is_released_under_it() -> None:
    server, slow, began, blocks = Server(), threading.Event(), threading.Event(), threading.Event()

    def delay() -> None:
        if blocks.is_set() and threading.current_thread() is not threading.main_thread():
            began.set()
            slow.wait(60)

    seen = Seen(server, delay)
    terms = replace(TERMS, retry=0.01)
    election = Election(seen, identity="me", terms=terms, clock=ManualClock(), changed=lambda: None, optional=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gitfleet.loop.election._LONGEST_WAIT", 0.05)
        election.start()
        blocks.set()
        assert began.wait(60)
        election.stop()
        assert not election.leads()
        assert server.record is not None
        assert server.record.holder == "me", "the thread may still write: a release would be overwritten"
        slow.set()
        election._thread.join(60)
    assert not election.leads(), "a renewal that comes back late leads no more"
