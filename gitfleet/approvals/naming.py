"""Which approvals are meant for a request: the one of its name, and NAME.2, NAME.ann, ... of further people; and which
only stand another way than before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count

from gitfleet.api.conditions import APPROVED, Status, find_condition
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.staged import DIGEST, HOLD_PREFIX, SNAPSHOT_INDEX, Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.formats.near_names import is_near
from gitfleet.formats.times import EPOCH
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.approvals import FURTHER, Asked, ByRequest

APPROVALS_FOLDER = "approvals"
_ENDING = ".yaml"


def given(request: Asked, approvals: ByRequest) -> Sequence[Approval]:
    """The approvals that are meant for a request, by name."""
    keys = (NamespacedName(request.namespace, name) for name in (request.name, *request.aliases))
    meant = {approval.key: approval for key in keys for approval in approvals.get(key, ())}
    return [approval for _, approval in sorted(meant.items())]


def standing(
    request: Asked, approval: Approval, now: Mapping[NamespacedName, Approval], before: ByRequest
) -> Approval | None:
    """The approval of a request among those of an earlier commit that gave the same answer as `approval`, one of those
    that there are `now`: under its name, or under one that is gone. None where the answer came later."""
    previous = filter(lambda old: _is_same(old, approval), given(request, before))
    repeated = (old for old in previous if old.key == approval.key or old.key not in now)
    return min(repeated, key=lambda old: old.key != approval.key, default=None)


def _is_same(old: Approval, new: Approval) -> bool:
    """Whether nobody answered again. The words of an answer, what it leaves out now, and its format are no answer."""
    before, after = (find_condition(approval.conditions, APPROVED) for approval in (old, new))
    if before is None or after is None or before.status is not after.status:
        return False
    named = ((old.parent_run, new.parent_run), (old.target_stage, new.target_stage))
    return (
        after.last_transition_time in (before.last_transition_time, EPOCH)
        and new.digest in (old.digest, None)
        and all(None in both or both[0] == both[1] for both in named)
    )


def wrong_approvals(
    questions: Collection[tuple[Asked, bool]], approvals: Mapping[NamespacedName, Approval], by_request: ByRequest
) -> Iterator[Fault]:
    """A warning for each approval that is meant for none of the `questions` and resembles one of them that waits;
    `by_request` are the same approvals by request."""
    answering = {approval.key for request, _ in questions for approval in given(request, by_request)}
    for approval in (approval for key, approval in sorted(approvals.items()) if key not in answering):
        if request := next(
            (request for request, waits in questions if waits and _may_be_meant(approval, request)), None
        ):
            what = "hold" if request.name.startswith(HOLD_PREFIX) else "request"
            name = NamespacedName(request.namespace, request.name)
            sentence = ApprovalsText.ANSWERS_NO_NOW(what=what, name=name)
            yield fault_of(approval, sentence, "metadata.name")


def _may_be_meant(approval: Approval, request: Asked) -> bool:
    """Whether a name is nearly that of a request, or is the same up to its stage or digest, or is the run's alone."""
    written, (subject, _, _) = approval.key.name, request.name.rpartition("-")
    near = any(is_near(written, name) for name in (request.name, *request.aliases))
    return near or subject in (written, written.rpartition("-")[0])


def fault_of(approval: Approval, sentence: str, field: str = "") -> Fault:
    """A warning about an approval."""
    origin, kind = approval.origin, "ApprovalRequest" if approval.key.namespace else "ClusterApprovalRequest"
    path, line = (origin.path, origin.line) if origin is not None else ("", 1)
    return Fault(path, line, f"{kind}/{approval.key}", field, sentence, Severity.WARNING)


def next_name(name: str, approvals: Collection[NamespacedName], paths: Collection[str], namespace: str = "") -> str:
    """The name of one more approval of the request `name`, where the repo has these approvals, in whatever files, and
    files at these paths."""
    taken = {path.rpartition(".")[0] for path in paths}  # a .json of that name is the same approval
    taken |= {approval_path(key.name, key.namespace).removesuffix(_ENDING) for key in approvals}
    names = chain([name], (f"{name}{FURTHER}{number}" for number in count(2)))
    return next(
        candidate for candidate in names if approval_path(candidate, namespace).removesuffix(_ENDING) not in taken
    )


def name_to_reject(name: str, approvals: Mapping[NamespacedName, Approval], namespace: str = "") -> str:
    """The name of an approval that rejects the request `name`: in the place of the one in the file of its name, beside
    one in another file."""
    elsewhere = (
        a.key for a in approvals.values() if a.origin and a.origin.path != approval_path(a.key.name, a.key.namespace)
    )
    return next_name(name, tuple(elsewhere), (), namespace)


def approval_path(name: str, namespace: str = "") -> str:
    """Where the file of an approval lies."""
    return "/".join(filter(None, (APPROVALS_FOLDER, namespace, f"{name}{_ENDING}")))


def approval_branch(prefix: str, key: NamespacedName) -> str:
    """The branch that asks for the answer. No Kubernetes name has an underscore, so no two requests have one branch."""
    return f"{prefix}{key.namespace}_{key.name}" if key.namespace else f"{prefix}{key.name}"


def approval_text(
    name: str, status: Status = Status.TRUE, digest: str = "", namespace: str = "", snapshot: str = ""
) -> str:
    """The file that approves a request, or rejects it with False; with a digest, and the index of its snapshot, it is
    for that very request alone."""
    place = {"namespace": namespace} if namespace else {}
    bound = {key: value for key, value in ((DIGEST, digest), (SNAPSHOT_INDEX, snapshot)) if value}
    return yaml_text(
        {
            "apiVersion": f"{PLACEMENT_GROUP}/v1beta1",
            "kind": "ApprovalRequest" if namespace else "ClusterApprovalRequest",
            "metadata": {"name": name, **place, **({"annotations": bound} if bound else {})},
            "status": {"conditions": [{"type": APPROVED, "status": status.value}]},
        }
    )
