"""Commits as dictionaries: the requests that the tests put to `read_desired`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha1

from gitfleet.desired import DesiredRequest, SourceFile, parse_file, read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from tests.texts import part

IDLE = (part(DesiredText.SELECTS_NO_NAME), part(DesiredText.SELECTS_NO_LABELS))
"""What the warnings say of selectors without a match (`test_references`)."""
Files = Mapping[str, str | bytes]


def text_of(content: str | bytes) -> bytes:
    """Dedented UTF-8."""
    return textwrap.dedent(content).lstrip("\n").encode() if isinstance(content, str) else content


def blob_of(content: str | bytes) -> str:
    """Git's own id of the content."""
    body = text_of(content)
    return sha1(b"blob %d\0" % len(body) + body).hexdigest()


def source_of(path: str, content: str | bytes) -> SourceFile:
    """An ordinary file of a tree."""
    body = text_of(content)
    return SourceFile(blob=blob_of(content), size=len(body), parsed=parse_file(path, body))


def request_of(files: Files, *, before: Files | None = None, accepted: FleetState | None = None) -> DesiredRequest:
    """A commit with these files; `before` are all files of the observed commit, None when that one is gone."""
    accepted = accepted or FleetState()
    contents = {blob_of(content): text_of(content) for content in [*files.values(), *(before or {}).values()]}
    changed = {path for path in {*files, *(before or {})} if before is None or before.get(path) != files.get(path)}
    return DesiredRequest(
        commit="c0ffee",
        files={path: source_of(path, content) for path, content in files.items()},
        before={path: source_of(path, content) for path, content in (before or {}).items() if path in changed},
        changed=None if before is None else changed,
        accepted=accepted if before is None else replace(accepted, observed_commit="before"),
        contents=lambda blob: contents.get(blob, b""),
    )


def read(files: Files, *, before: Files | None = None, accepted: FleetState | None = None) -> Desired:
    """What `read_desired` makes of a commit, less the warnings of `IDLE`."""
    desired = read_desired(request_of(files, before=before, accepted=accepted))
    return replace(
        desired, faults=tuple(fault for fault in desired.faults if not any(text in fault.message for text in IDLE))
    )


def faults_of(files: Files, *, before: Files | None = None, accepted: FleetState | None = None) -> list[str]:
    """The faults of a commit as people see them, warnings marked."""
    faults = read(files, before=before, accepted=accepted).faults
    return [f"{fault} ({fault.severity})" if fault.severity != "error" else str(fault) for fault in faults]
