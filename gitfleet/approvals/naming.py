"""Which approvals are meant for a request: the one of its name, and NAME.2, NAME.ann, ... of further people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.holds import HOLD_PREFIX
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals.texts import ApprovalsText
from gitfleet.formats.near_names import is_near
from gitfleet.model.approvals import FURTHER, Asked, ByRequest

APPROVALS_FOLDER = "approvals"
_ENDING = ".yaml"


def given(asked: Asked, approvals: ByRequest) -> Sequence[Approval]:
    """The approvals that are meant for a request, by name."""
    keys = (NamespacedName(asked.namespace, name) for name in (asked.name, *asked.aliases))
    found = {approval.key: approval for key in keys for approval in approvals.get(key, ())}
    return [approval for _, approval in sorted(found.items())]


def unasked(
    asked: Iterable[Asked], approvals: Mapping[NamespacedName, Approval], found: ByRequest
) -> Sequence[Approval]:
    """The approvals that are meant for none of what was asked; `found` are the same approvals by request."""
    known = {approval.key for one in asked for approval in given(one, found)}
    return [approval for key, approval in approvals.items() if key not in known]


def wrong_approvals(waiting: Collection[Asked], unmeant: Iterable[Approval], approvals: ByRequest) -> Iterator[Fault]:
    """A warning for each approval that is for one of those that are `waiting` and does not answer it: it says itself
    that it is for another stage, or is one of those that are `unmeant` for anything that is there."""
    own = {approval.key: (approval, one) for one in waiting for approval in given(one, approvals)}
    every = {approval.key: (approval, None) for approval in (unmeant if waiting else ())} | own
    for key, (approval, meant) in sorted(every.items()):
        if meant is not None:
            if approval.target_stage is not None and meant.name not in _names_by_spec(approval):
                said = ApprovalsText.STAGE_RUN(target_stage=approval.target_stage, parent_run=approval.parent_run)
                yield fault_of(approval, ApprovalsText.NOT_CORRECT_ONE(why=said, key=key.name), "spec.targetStage")
        elif one := next((one for one in waiting if _may_be_meant(approval, one)), None):
            what = "hold" if one.name.startswith(HOLD_PREFIX) else "request"
            name = NamespacedName(one.namespace, one.name)
            sentence = ApprovalsText.ANSWERS_NO_NOW(what=what, name=name)
            yield fault_of(approval, sentence, "metadata.name")


def _may_be_meant(approval: Approval, one: Asked) -> bool:
    """For a hold: one for the same subject, with nearly the same digest, or without it. For a stage: nearly its name,
    the run's or the stage's alone, or its run and stage in the spec."""
    written, (subject, _, last) = approval.key.name, one.name.rpartition("-")
    begins, _, ends = written.rpartition("-")
    if one.name.startswith(HOLD_PREFIX):
        return not approval.key.namespace and (is_near(ends, last) or subject in (written, begins))
    if approval.key.namespace and one.namespace not in ("", approval.key.namespace):
        return False
    near = any(is_near(written, name) for name in (one.name, *one.aliases))
    return near or written in (subject, last) or begins == subject or one.name in _names_by_spec(approval)


def _names_by_spec(approval: Approval) -> tuple[str, ...]:
    """The names of the requests that an approval may be for by its spec (decision D9)."""
    run, stage = approval.parent_run, approval.target_stage
    return (f"{run}-{stage}", f"{run}-before-{stage}") if run is not None else ()


def fault_of(approval: Approval, sentence: str, field: str = "") -> Fault:
    """A warning about an approval."""
    origin, kind = approval.origin, "ApprovalRequest" if approval.key.namespace else "ClusterApprovalRequest"
    path, line = (origin.path, origin.line) if origin is not None else ("", 1)
    return Fault(path, line, f"{kind}/{approval.key}", field, sentence, Severity.WARNING)


def next_name(name: str, approvals: Collection[NamespacedName], paths: Collection[str], namespace: str = "") -> str:
    """The name of one more approval of the request `name`, where the repo has these approvals, in whatever files, and
    files at these paths."""
    taken = {path.rpartition(".")[0] for path in paths}  # a .json of that name is the same approval
    taken |= {path_of(key.name, key.namespace).removesuffix(_ENDING) for key in approvals}
    names = chain([name], (f"{name}{FURTHER}{number}" for number in count(2)))
    return next(one for one in names if path_of(one, namespace).removesuffix(_ENDING) not in taken)


def name_to_reject(name: str, approvals: Mapping[NamespacedName, Approval], namespace: str = "") -> str:
    """The name of an approval that rejects the request `name`: in the place of the one in the file of its name, beside
    one in another file."""
    elsewhere = (
        a.key for a in approvals.values() if a.origin and a.origin.path != path_of(a.key.name, a.key.namespace)
    )
    return next_name(name, tuple(elsewhere), (), namespace)


def path_of(name: str, namespace: str = "") -> str:
    """Where the file of an approval lies."""
    return "/".join(filter(None, (APPROVALS_FOLDER, namespace, f"{name}{_ENDING}")))
