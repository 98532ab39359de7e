"""kustomize, by the `kustomize` program or kubectl's built-in one, in an empty folder of its own.

The files come from an untrusted repo: only those of the closure are laid out, no link among them, load restrictions
stay on, no plug-in, helm or network option is given, and the environment holds nothing of ours.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

from gitfleet.errors import BadInput, MissingPart, RetryLater

_LARGEST_OUTPUT = 64 << 20
_LONGEST_MESSAGE = 500
_KUBECTL_LOG = re.compile(r'\] "command failed" err=(?:"((?:[^"\\]|\\.)*)"|<\n(.*?)\n >)', re.DOTALL)


class KustomizeProgram:
    """KustomizeBuilder on the program that PATH has; it is searched for at each build.

    A build that takes longer than `seconds` is ended."""

    def __init__(self, *, seconds: float = 60.0) -> None:
        self._seconds = seconds

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build. RetryLater when the program was ended before it was done."""
        command = _command()
        with tempfile.TemporaryDirectory(prefix="gitfleet-kustomize-") as name:
            scratch = Path(name).resolve()
            root = scratch / "tree"
            for path, content in files.items():
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            status, printed, said = self._run([*command, "--", str(root / folder)], scratch)
        if status < 0:
            raise RetryLater(f"kustomize was ended before it was done; it may take {self._seconds:g} s at most")
        if len(printed) > _LARGEST_OUTPUT:
            raise BadInput(f"kustomize prints more than {_LARGEST_OUTPUT >> 20} MiB")
        if status != 0:
            raise BadInput(f"cannot be built, kustomize says: {_words(said, root)[:_LONGEST_MESSAGE]}")
        return printed

    def _run(self, command: list[str], scratch: Path) -> tuple[int, bytes, bytes]:
        """The exit status (negative for a signal), what was printed as far as it is kept, and the complaints."""
        # Nothing that kustomize would need to fetch: no git on its path, and a proxy that nobody listens at.
        nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        environment = {"PATH": "/nonexistent", "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch), **nowhere}
        with (
            (scratch / "said").open("w+b") as said,
            subprocess.Popen(  # noqa: S603 - a fixed program, arguments as a list
                command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
            ) as process,
        ):
            timer = Timer(self._seconds, process.kill)
            timer.start()
            try:
                printed = process.stdout.read(_LARGEST_OUTPUT + 1) if process.stdout else b""
                if len(printed) > _LARGEST_OUTPUT:
                    process.kill()
                    return 0, printed, b""
                process.wait()
            finally:
                timer.cancel()
            said.seek(0)
            return process.returncode, printed, said.read(1 << 20)


def _words(said: bytes, root: Path) -> str:
    """The complaint in one line, the same words each time: kubectl puts its log's head (time and process) before it,
    and the scratch folder has another name for each build."""
    text = said.decode(errors="replace").replace(f"{root}/", "").replace(str(root), ".").replace(str(root.parent), "")
    if logged := _KUBECTL_LOG.search(text):
        quoted, plain = logged.groups()
        text = quoted.replace('\\"', '"').replace("\\n", " ").replace("\\t", " ") if quoted is not None else plain
        return " ".join(text.split())
    lines = text.strip().splitlines() or ["nothing"]
    return lines[-1].strip().removeprefix("Error: ").removeprefix("error: ")


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
