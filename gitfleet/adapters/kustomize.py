"""kustomize, by the `kustomize` program or kubectl's built-in one, in an empty folder of its own.

The files come from an untrusted repo: only those of the closure are laid out, no link among them, load restrictions
stay on, no plug-in, helm or network option is given, the environment holds nothing of ours, and where the kernel allows
it there is no network.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gitfleet.adapters.no_network import network_cut
from gitfleet.adapters.programs import Finished, run_program
from gitfleet.errors import BadInput, MissingPart, RetryLater

log = logging.getLogger(__name__)
_NOT_CUT = (
    "kustomize runs with the network of this process, since no network namespace can be made here (see "
    "docs/security.md); URLs are refused before it runs"
)
_LARGEST_OUTPUT = 64 << 20
_MEMORY = 512 << 20
"""Measured: 38 MiB of output take 250 MiB; so this is enough for the largest output."""
_OUT_OF_MEMORY = re.compile(rb"out of memory|cannot allocate memory")
_LONGEST_MESSAGE = 500
_KUBECTL_LOG = re.compile(r'\] "command failed" err=(?:"((?:[^"\\]|\\.)*)"|<\n(.*?)\n >)', re.DOTALL)


class KustomizeProgram:
    """KustomizeBuilder on the program that PATH has; it is searched for at each build.

    A build that takes longer than `seconds` is ended, and on Linux one that needs more than `memory` bytes."""

    def __init__(self, *, seconds: float = 60.0, memory: int = _MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._network_cut: tuple[str, ...] | None = None

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build. RetryLater when the program was ended before it was done."""
        command = _command()
        with _scratch() as scratch:
            root = scratch / "tree"
            for path, content in files.items():
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            done = self._run([*command, "--", str(root / folder)], scratch)
        if done.too_much:
            raise BadInput(f"kustomize prints more than {_LARGEST_OUTPUT >> 20} MiB")
        if done.too_slow or done.code < 0:
            raise RetryLater(f"kustomize was ended before it was done; it may take {self._seconds:g} s at most")
        if done.code != 0 and _OUT_OF_MEMORY.search(done.errors):
            raise BadInput(f"cannot be built, kustomize needs more than {self._memory >> 20} MiB of memory for it")
        if done.code != 0:
            raise BadInput(f"cannot be built, kustomize says: {_complaint(done.errors, root)[:_LONGEST_MESSAGE]}")
        return done.output

    def _run(self, command: list[str], scratch: Path) -> Finished:
        # Nothing that kustomize would need to fetch: no network where the kernel allows that, no git on its path, and a
        # proxy that nobody listens at.
        if self._network_cut is None:
            self._network_cut = network_cut()
            if not self._network_cut:
                log.warning("%s", _NOT_CUT)
        nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        environment = {"PATH": "/nonexistent", "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch), **nowhere}
        return run_program(
            [*self._network_cut, *command],
            environment=environment,
            folder=scratch,
            seconds=self._seconds,
            largest_output=_LARGEST_OUTPUT,
            memory=self._memory,
        )


def _complaint(stderr: bytes, root: Path) -> str:
    """The complaint in one line, the same words each time: kubectl puts its log's head (time and process) before it,
    and the scratch folder has another name for each build."""
    text = stderr.decode(errors="replace").replace(f"{root}/", "").replace(str(root), ".").replace(str(root.parent), "")
    if logged := _KUBECTL_LOG.search(text):
        quoted, plain = logged.groups()
        text = quoted.replace('\\"', '"').replace("\\n", " ").replace("\\t", " ") if quoted is not None else plain
        return " ".join(text.split())
    lines = text.strip().splitlines() or ["nothing"]
    return lines[-1].strip().removeprefix("Error: ").removeprefix("error: ")


@contextmanager
def _scratch() -> Iterator[Path]:
    """A temporary directory; MissingPart where none can be made."""
    try:
        made = tempfile.TemporaryDirectory(prefix="gitfleet-kustomize-")
    except OSError as error:
        hint = "set TMPDIR to a folder that can be written"
        raise MissingPart(f"kustomize needs a temporary directory: {error.strerror}", hint=hint) from error
    with made as name:
        yield Path(name).resolve()


def _command() -> list[str]:
    kustomize = shutil.which("kustomize")
    if kustomize:
        return [kustomize, "build"]
    kubectl = shutil.which("kubectl")
    if kubectl:
        return [kubectl, "kustomize"]
    raise MissingPart(
        "cannot be built, because there is neither kustomize nor kubectl where gitfleet runs; install one of them, or "
        "commit the built manifests"
    )
