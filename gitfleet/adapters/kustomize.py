"""kustomize, by the `kustomize` program or kubectl's built-in one.

Only the files of the closure are laid out, no link among them, load restrictions stay on, and no plug-in, helm or
network option is given.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from typing import Final

from gitfleet.adapters.hermetic import HermeticProgram
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import MissingPart

KUSTOMIZE: Final = ("kustomize", "kubectl")
"""The programs that build, the first that there is."""
_KUBECTL_FAILED = '] "command failed" err='
_KUBECTL_CAUSE = re.compile(r'"((?:[^"\\]|\\.)*+)"|<\n(.*?)\n >', re.DOTALL)


class KustomizeProgram:
    """KustomizeBuilder on the program that PATH has; it is searched for at each build."""

    def __init__(self, *, seconds: float = 60.0, **limits: int) -> None:
        self._program = HermeticProgram("kustomize", _complaint, seconds=seconds, **limits)

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build. RetryLater when the program was ended before it was done."""
        command = _command()
        return self._program.output(files, lambda root: [*command, "--", str(root / folder)])


def _complaint(text: str) -> str:
    """The complaint in one line, the same words each time: kubectl puts its log's head (time and process) before it."""
    if logged := _KUBECTL_CAUSE.match(text.partition(_KUBECTL_FAILED)[2]):
        quoted, plain = logged.groups()
        text = quoted.replace('\\"', '"').replace("\\n", " ").replace("\\t", " ") if quoted is not None else plain
        return " ".join(text.split())
    lines = text.strip().splitlines() or ["nothing"]
    return lines[-1].strip().removeprefix("Error: ").removeprefix("error: ")


def _command() -> list[str]:
    for program, command in zip(KUSTOMIZE, ("build", "kustomize"), strict=True):
        path = shutil.which(program)
        if path:
            return [path, command]
    raise MissingPart(AdaptersText.NO_KUSTOMIZE())
