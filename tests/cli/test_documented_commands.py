"""Every command that README.md, examples/README.md, the pages of the rollouts there and docs/*.md show in a fenced `sh`
block is run, block after block, and so is every `python` block; a `text` block right behind it is what it prints.

A page runs in a fresh folder that holds a config repo: what `gitfleet init` lays out, reconciled, with a branch
`my-change`. A comment in front of a block may say `<!-- exit: N -->` (the block's last command ends so),
`<!-- asks a Prometheus -->` (another program of the block is answered as Prometheus answers), or
`<!-- not run here: REASON -->`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from _pytest.mark.structures import ParameterSet

from tests.cli.conftest import GIT, commit, git, make_repo

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "examples").glob("*-rollout/README.md"))
MOST_NOT_RUN = 3
BUILT = {"docs/bring-your-app.md"}
"""The pages whose commands build folders, with the real kustomize and Helm."""
EACH_TIME = {"README.md", "docs/bring-your-app.md"}
"""The pages whose commands `make test` runs; those of the others are run by `make soak`."""
_FENCE = re.compile(r"^(?:<!-- (?P<marker>[^\n]*?) -->\n)?```sh\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_OF_ANOTHER_PROGRAM = re.compile(r"`(?:git|dask|kubectl|helm) ")
"""A command in a sentence whose options are not gitfleet's: `git init --bare`."""
_PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<printed>.*?)^```$)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block of commands: where it begins, what it ends with, and why it is not run, if so."""

    line: int
    text: str
    code: int = 0
    not_run: str = ""
    asks: bool = False


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page; AssertionError for a marker that says nothing known."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        marker = match["marker"] or ""
        if marker.startswith("not run here: "):
            found.append(Block(line, match["text"], not_run=marker.removeprefix("not run here: ")))
            continue
        code = re.fullmatch(r"exit: (\d+)", marker)
        asks = marker == "asks a Prometheus"
        assert code or asks or not marker, f"{page.name}:{line}: <!-- {marker} --> says nothing known"
        found.append(Block(line, match["text"], code=int(code[1]) if code else 0, asks=asks))
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a reconciled config repo, to be copied for each page (the same path, so that the cache fits)."""
    home = tmp_path_factory.mktemp("documented")
    repo = make_repo(home / "now" / "fleet")
    git(repo, "switch", "--quiet", "--create", "my-change")
    web = (repo / "resources" / "web" / "web.yaml").read_text()
    commit(repo, {"resources/web/web.yaml": web.replace("replicas: 2", "replicas: 3")})
    git(repo, "switch", "--quiet", "main")
    shell(home / "now", "gitfleet run --until-settled")
    shutil.copytree(home / "now", home / "template", symlinks=True)
    return home


@pytest.fixture
def place(prepared: Path) -> Iterator[Path]:
    """The home as it was prepared."""
    shutil.rmtree(prepared / "now")
    shutil.copytree(prepared / "template", prepared / "now", symlinks=True)
    yield prepared / "now"


class Prometheus(BaseHTTPRequestHandler):
    """Answers queries of a moment, at whatever address, as an HTTP proxy; everything else it refuses."""

    def do_GET(self) -> None:
        """One query."""
        asked = urlsplit(self.path)
        given = parse_qs(asked.query, strict_parsing=True)
        is_query = asked.path == "/api/v1/query" and given.keys() == {"query", "time"}
        at = datetime.fromisoformat(given["time"][0]).timestamp() if is_query else 0
        result = {"resultType": "vector", "result": [{"metric": {}, "value": [at, "0.12"]}]}
        body = json.dumps({"status": "success" if is_query else "error", "data": result}).encode()
        self.send_response(200 if is_query else 400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def prometheus() -> Iterator[str]:
    """The address of one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Prometheus) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def shell(home: Path, text: str, folder: Path | None = None, proxy: str = "") -> subprocess.CompletedProcess[str]:
    """Run commands in bash in the config repo (or a folder), stopping at the first that fails."""
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**kept, **GIT, "PATH": tools, "HOME": str(home), "SHELL": "/bin/bash"}
    environment |= {"http_proxy": proxy} if proxy else {}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder or home / "fleet",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def pages(*, built: bool) -> list[ParameterSet]:
    """The pages whose commands need kustomize and Helm, or all others."""
    names = {str(page.relative_to(ROOT)): page for page in PAGES}
    return [
        pytest.param(page, id=name, marks=() if name in EACH_TIME else pytest.mark.soak("pages"))
        for name, page in names.items()
        if (name in BUILT) is built
    ]


@pytest.mark.parametrize("page", pages(built=False))
def test_the_commands_of_a_page(page: Path, place: Path, prometheus: str) -> None:
    if "examples" in page.relative_to(ROOT).parts or page.stem == "git-server-rules":
        shutil.copytree(ROOT / "examples", place / "fleet" / "examples")
    for block in blocks_of(page):
        if block.not_run:
            continue
        done = shell(place, block.text.replace("/tmp/", f"{place}/"), proxy=prometheus if block.asks else "")
        said = f"{page.name}:{block.line}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == block.code, said
        assert "Traceback" not in done.stderr, said
        assert not block.asks or json.loads(done.stdout)["status"] == "success", said


@pytest.mark.parametrize("page", pages(built=True))
def test_the_commands_of_a_page_with_built_folders(
    page: Path, place: Path, kustomize: Path, helm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{kustomize.parent}:{helm.parent}", prepend=os.pathsep)
    test_the_commands_of_a_page(page, place, "")


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        pytest.param(match["code"], match["printed"] or "", id=f"{page.name}-{number}")
        for page in PAGES
        for number, match in enumerate(_PYTHON.finditer(page.read_text(encoding="utf-8")))
    ],
)
def test_the_python_examples_of_a_page(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    reasons = [block.not_run for page in PAGES for block in blocks_of(page) if block.not_run]

    assert len(reasons) <= MOST_NOT_RUN
    assert all(len(reason) >= 15 for reason in reasons)


def test_every_command_of_the_command_line_is_documented() -> None:
    from gitfleet.cli.commands import COMMANDS

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert not [name for name in COMMANDS if f"| `{name}" not in page]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))

    assert not [link for link in links if "://" not in link and not (page.parent / link.split("#")[0]).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_that_is_named_exists(page: Path) -> None:
    from gitfleet.cli.commands import COMMANDS
    from gitfleet.cli.main import app

    known = {"--help", "--version"}
    for name in COMMANDS:
        command = app.get_command(app.make_context("gitfleet", [], resilient_parsing=True), name)
        assert command is not None
        for one in (command, *getattr(command, "commands", {}).values()):
            known.update(option for parameter in one.params for option in parameter.opts)
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    spans = [span for span in re.findall(r"`[^`\n]*`", text) if not _OF_ANOTHER_PROGRAM.match(span)]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", " ".join(spans)))
    assert named <= known
