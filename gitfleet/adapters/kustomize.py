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

from gitfleet.errors import BadInput, MissingPart

_SECONDS = 60.0
_LARGEST_OUTPUT = 64 << 20


class KustomizeProgram:
    """KustomizeBuilder on the program that PATH has; it is looked for when it is first needed."""

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build."""
        command = _command()
        with tempfile.TemporaryDirectory(prefix="gitfleet-kustomize-") as scratch:
            root = Path(scratch) / "tree"
            for path, content in files.items():
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            environment = {"PATH": "/nonexistent", "HOME": scratch, "XDG_CONFIG_HOME": scratch, "LC_ALL": "C"}
            try:
                done = subprocess.run(  # noqa: S603 - a fixed program, arguments as a list
                    [*command, "--", str(root / folder)],
                    cwd=scratch,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise BadInput(f"kustomize did not finish within {_SECONDS:g} s") from error
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").replace(f"{root}/", "").strip().splitlines()
            raise BadInput(f"kustomize says: {(said or ['nothing'])[-1][:500]}")
        if len(done.stdout) > _LARGEST_OUTPUT:
            raise BadInput(f"kustomize prints more than {_LARGEST_OUTPUT >> 20} MiB")
        return done.stdout


def _command() -> list[str]:
    kustomize = shutil.which("kustomize")
    if kustomize:
        return [kustomize, "build"]
    kubectl = shutil.which("kubectl")
    if kubectl:
        return [kubectl, "kustomize"]
    raise MissingPart("there is neither kustomize nor kubectl on this machine, so this folder cannot be built")
