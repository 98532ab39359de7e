"""kustomize, by the `kustomize` program or kubectl's built-in one, in an empty folder of its own.

The files come from an untrusted repo: only those of the closure are laid out, no link among them, load restrictions
stay on, no plug-in, helm or network option is given, and the environment holds nothing of ours.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

from gitfleet.errors import BadInput, MissingPart, RetryLater

_LARGEST_OUTPUT = 64 << 20
_LONGEST_MESSAGE = 500


class KustomizeProgram:
    """KustomizeBuilder on the program that PATH has; it is looked for at each build.

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
            # The scratch folder has another name each time, and the same fault must be told in the same words.
            text = said.decode(errors="replace").replace(f"{root}/", "").replace(str(root), ".")
            lines = text.replace(str(scratch), "").strip().splitlines() or ["nothing"]
            words = lines[-1].removeprefix("Error: ").removeprefix("error: ")
            raise BadInput(f"cannot be built, kustomize says: {words[:_LONGEST_MESSAGE]}")
        return printed

    def _run(self, command: list[str], scratch: Path) -> tuple[int, bytes, bytes]:
        """The exit status (negative for a signal), what was printed as far as it is looked at, and the complaints."""
        environment = {"PATH": "/nonexistent", "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch), "LC_ALL": "C"}
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
