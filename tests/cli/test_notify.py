"""`gitfleet run --notify`: a real process tells a real receiver, and no secret is logged or sent."""

from __future__ import annotations

import hmac
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitfleet.cli.texts import CliText
from gitfleet.formats.canonical_json import json_text
from gitfleet.serving.texts import ServingText
from tests.adapters.test_notify import Receiver, at, receiving
from tests.cli.conftest import Shell, commit
from tests.cli.test_http import WAIT_SECONDS, begin

SECRET = "canary-5b0e" * 3
NOTIFICATIONS = """  notifications:
    - name: ops
      type: webhook
    - name: nowhere
      type: slack
"""


def notifying(repo: Path) -> None:
    config = (repo / "gitfleet.yaml").read_text()
    changed = config.replace("interval: 30s", "interval: 1s")
    commit(repo, {"gitfleet.yaml": changed.rstrip("\n") + "\n" + NOTIFICATIONS})


def until(receiver: Receiver, event: str) -> bytes:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        for _, body in receiver.got:
            if event.encode() in body:
                return body
        assert time.monotonic() < deadline, receiver.got
        time.sleep(0.1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def test_a_run_tells_what_happened(fleet: Path, tmp_path: Path, receiver: Receiver) -> None:
    notifying(fleet)
    file, log = tmp_path / "ops", tmp_path / "log"
    file.write_text(json_text(at(receiver, secret=SECRET)))
    running = begin(fleet, log, "--notify", f"ops={file}")
    try:
        until(receiver, '"rolloutComplete"')
        receiver.status = 500
        commit(fleet, {"placements/broken.yaml": "kind: [\n"})
        running.until("/metrics", 'gitfleet_notifications_total{outcome="failed",type="webhook"}')
        file.write_text(json_text(at(receiver, secret=SECRET[::-1])))  # a new secret needs no restart
        receiver.status = 200
        deadline = time.monotonic() + WAIT_SECONDS
        while "notifications to ops are delivered again" not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        headers, body = receiver.got[-1]
        signed = hmac.new(SECRET[::-1].encode(), body, "sha256").hexdigest()
        assert headers["x-gitfleet-signature-256"] == f"sha256={signed}"
        assert json.loads(body)["events"][0]["event"] == "error"
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(WAIT_SECONDS) == 0
    finally:
        running.process.kill()
        running.process.wait()
    said = log.read_text()
    assert "nobody is told by notification nowhere: no --notify nowhere=FILE says where it is" in said
    assert ("notification ops: 127.0.0.1 answers 500; " + ServingText.TRIED_AGAIN_LATER()) in said
    everything = said + str(receiver.got)
    assert SECRET not in everything and receiver.url.rpartition("/")[2] not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--notify", "ops"), CliText.OPTION_NO_PAIR(option="--notify", given="ops", form="NAME=FILE")),
        (("--notify", "ops=a", "--notify", "ops=b"), CliText.OPTION_NAMES_TWICE(option="--notify", name="ops")),
        (
            ("--notify", "ops=a", "--once"),
            "--listen, --notify, --leader-election, --executor and --log-format go with a continuous run",
        ),
    ],
)
def test_wrong_options(gitfleet: Shell, moving: Path, words: tuple[str, ...], said: str) -> None:
    ended = gitfleet("run", moving, *words)
    assert ended.code == 64 and said in ended.err
