"""Each apply strategy, takeover mode, drift mode and deletion policy with other managers: the object, its managedFields
and what gitfleet says of it, before and after (kubefleet.md §6; decisions D15, D34), as seen on a real kube-apiserver.

What `FullComparison` finds is tested where objects are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pytest

from gitfleet.apply.texts import ApplyText
from tests.adapters.kube.plays import (
    Begin,
    Found,
    OnRealServer,
    OnSimulatedServer,
    Play,
    Said,
    Step,
    apply,
    change_to,
    create,
    delete,
    edit,
    kubectl,
    leave,
    override_deletes,
    patch,
    reconcile,
    release,
    unplace,
    unselect,
)

CSA, SSA, FORCE, REPORT = "ClientSideApply", "ServerSideApply", "ServerSideApply force", "ReportDiff"
DRIFTED = "IfNotDrifted"
AVAILABLE = Said("Available True ResourceAvailable")
SAME = Said("DiffReported True DiffReportingCompleted")
OLD, EDITED = ("/data/a: old -> 1",), ("/data/a: x -> 1",)
ABSENT = (("/: None -> " + ApplyText.WHOLE_OBJECT()),)
ANNOTATION = {"last-applied": "..."}
UNTOUCHED = object()
"""Nothing was written: uid and resourceVersion are what they were."""


def refused(code: str, differs: tuple[str, ...] = (), by: str = "") -> Said:
    return Said("Applied False ApplyFailed", code, differs, by)


def differs(what: tuple[str, ...], by: str = "") -> Said:
    return SAME._replace(differs=what, written_by=by)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What stood before (None: nothing), what is done, and the whole answer: `owned` is whether the inventory has the
    object as gitfleet's afterwards, `because` a part of the sentence about it."""

    title: str
    by: tuple[str, ...]
    given: tuple[Step, ...] = ()
    when: tuple[Step, ...] = (reconcile,)
    before: Found | None
    after: Found | object | None = UNTOUCHED
    said: Said | None
    owned: bool
    because: str = ""


def made(a: str, manager: str = "other Update", **more: str) -> Found:
    """As somebody else made it."""
    data = {"a": a, **more}
    whole = "" if manager.endswith("Apply") else "data "
    return Found(data, {manager: whole + " ".join(f"data.{name}" for name in data)})


def both(data: Mapping[str, str], ours: str, theirs: str, manager: str = "other Update") -> Found:
    """As it is with fields of gitfleet's, and of somebody else's."""
    return Found(data, {"gitfleet Apply": ours, manager: theirs})


NEW = Found({"a": "1"}, {"gitfleet Apply": "data.a"})
ONE, TWO = {"a": "1", "theirs": "1"}, {"a": "2", "theirs": "1"}
KUBECTL = "kubectl-client-side-apply Update"


def by_kubectl(a: str) -> Found:
    owned = {KUBECTL: "annotations annotations.last-applied data data.a data.gone"}
    return Found({"a": a, "gone": "1"}, owned, ANNOTATION)


OTHERS, OTHERS_OWN = made("old", theirs="1"), both(ONE, "data.a", "data data.theirs")
CO_OWNED = both(ONE, "data.a", "data data.a data.theirs")
APPLIED, APPLIED_SAME = made("old", "other Apply", theirs="1"), made("1", "other Apply", theirs="1")
OWNED = Found({"a": "old"}, {"other Update": "data data.a ownerReferences ownerReferences.*"}, owned_by="owner")
NOBODY = Found({"a": "old", "theirs": "1"}, {})
MAKES, SAYS_SAME = create(a="old", theirs="1"), create(a="1", theirs="1")
APPLIES, MAKES_OWNED = apply(a="old", theirs="1"), create(owner="owner", a="old")
KUBECTL_OLD, KUBECTL_SAME = kubectl(a="old", gone="1"), kubectl(a="1", gone="1")
FORGET = patch({"metadata": {"managedFields": [{}]}})

TAKEOVER = [
    Row(
        title="nothing is there",
        by=(CSA, f"{CSA} Never", f"{CSA} IfNoDiff", f"{CSA} {DRIFTED}", SSA, f"{SSA} Never", FORCE),
        before=None, after=NEW, said=AVAILABLE, owned=True,
    ),
    Row(title="nothing is there", by=(REPORT, f"{REPORT} Never"), before=None, said=differs(ABSENT), owned=False),
    Row(
        title="others made it differently", by=(CSA, FORCE, f"{CSA} {DRIFTED}", f"{FORCE} {DRIFTED}"), given=(MAKES,),
        before=OTHERS, after=OTHERS_OWN, said=AVAILABLE, owned=True,
    ),
    Row(
        title="others made it differently", by=(SSA, f"{SSA} {DRIFTED}"), given=(MAKES,),
        before=OTHERS, said=refused("Conflict"), owned=False, because='conflict with "other" using v1: .data.a',
    ),
    Row(
        title="others made it differently", by=(f"{CSA} IfNoDiff", f"{SSA} IfNoDiff", f"{FORCE} IfNoDiff"),
        given=(MAKES,),
        before=OTHERS, said=refused("FailedToTakeOver", OLD, "other"), owned=False,
    ),
    Row(
        title="others made it differently", by=(f"{CSA} Never", f"{SSA} Never", f"{FORCE} Never"), given=(MAKES,),
        before=OTHERS, said=refused("NotTakenOver"), owned=False,
    ),
    Row(
        title="others made it differently", by=(REPORT, f"{REPORT} IfNoDiff", f"{REPORT} Never"), given=(MAKES,),
        before=OTHERS, said=differs(OLD, "other"), owned=False,
    ),
    Row(
        title="others made the same and more", by=(CSA, f"{CSA} IfNoDiff", SSA, f"{SSA} IfNoDiff", FORCE),
        given=(SAYS_SAME,), before=made("1", theirs="1"), after=CO_OWNED, said=AVAILABLE, owned=True,
    ),
    Row(
        title="others made the same and more", by=(f"{CSA} Never", f"{SSA} Never"), given=(SAYS_SAME,),
        before=made("1", theirs="1"), said=refused("NotTakenOver"), owned=False,
    ),
    Row(
        title="others made the same and more", by=(REPORT,), given=(SAYS_SAME,),
        before=made("1", theirs="1"), said=SAME, owned=False,
    ),
    Row(
        title="kubectl applied it differently", by=(CSA,), given=(KUBECTL_OLD,), before=by_kubectl("old"),
        after=both({"a": "1"}, "data.a", "annotations data", KUBECTL), said=AVAILABLE, owned=True,
    ),
    Row(
        title="kubectl applied it differently", by=(SSA,), given=(KUBECTL_OLD,), before=by_kubectl("old"),
        said=refused("Conflict"), owned=False, because="kubectl-client-side-apply",
    ),
    Row(
        title="kubectl applied it differently", by=(FORCE,), given=(KUBECTL_OLD,), before=by_kubectl("old"),
        after=both(
            {"a": "1", "gone": "1"}, "data.a", "annotations annotations.last-applied data data.gone", KUBECTL
        )._replace(annotations=ANNOTATION),
        said=AVAILABLE, owned=True,
    ),
    Row(
        title="kubectl applied it differently", by=(f"{CSA} Never", f"{SSA} Never"), given=(KUBECTL_OLD,),
        before=by_kubectl("old"), said=refused("NotTakenOver"), owned=False,
    ),
    Row(
        title="kubectl applied it differently", by=(f"{CSA} IfNoDiff",), given=(KUBECTL_OLD,),
        before=by_kubectl("old"), said=refused("FailedToTakeOver", OLD, "kubectl-client-side-apply"), owned=False,
    ),
    Row(
        title="kubectl applied the same and more", by=(CSA,), given=(KUBECTL_SAME,), before=by_kubectl("1"),
        after=both({"a": "1"}, "data.a", "annotations data data.a", KUBECTL), said=AVAILABLE, owned=True,
    ),
    Row(
        title="kubectl applied the same and more", by=(f"{CSA} IfNoDiff", SSA, f"{SSA} IfNoDiff", FORCE),
        given=(KUBECTL_SAME,), before=by_kubectl("1"),
        after=both({"a": "1", "gone": "1"}, "data.a", by_kubectl("1").owners[KUBECTL], KUBECTL)._replace(
            annotations=ANNOTATION
        ),
        said=AVAILABLE, owned=True,
    ),
    Row(
        title="kubectl applied the same and more", by=(REPORT,), given=(KUBECTL_SAME,),
        before=by_kubectl("1"), said=SAME, owned=False,
    ),
    Row(
        title="others applied it differently", by=(CSA, FORCE), given=(APPLIES,), before=APPLIED,
        after=both(ONE, "data.a", "data.theirs", "other Apply"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="others applied it differently", by=(SSA,), given=(APPLIES,), before=APPLIED,
        said=refused("Conflict"), owned=False, because='conflict with "other": .data.a',
    ),
    Row(
        title="others applied it differently", by=(f"{CSA} IfNoDiff", f"{SSA} IfNoDiff"),
        given=(APPLIES,), before=APPLIED, said=refused("FailedToTakeOver", OLD, "other"), owned=False,
    ),
    Row(
        title="others applied the same and more", by=(CSA, SSA, FORCE, f"{CSA} IfNoDiff", f"{SSA} IfNoDiff"),
        given=(apply(a="1", theirs="1"),), before=APPLIED_SAME,
        after=both(ONE, "data.a", "data.a data.theirs", "other Apply"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="nobody is recorded to manage it", by=(CSA, SSA, FORCE), given=(MAKES, FORGET), before=NOBODY,
        after=both(ONE, "data.a", "data data.theirs", "before-first-apply Update"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="nobody is recorded to manage it", by=(f"{CSA} IfNoDiff", f"{SSA} IfNoDiff"), given=(MAKES, FORGET),
        before=NOBODY, said=refused("FailedToTakeOver", OLD), owned=False,
    ),
    Row(
        title="another object owns it", by=(CSA, f"{CSA} IfNoDiff", SSA, FORCE), given=(MAKES_OWNED,),
        before=OWNED, said=refused("FailedToTakeOver"), owned=False, because="ConfigMap owner",
    ),
    Row(
        title="another object owns it", by=(f"{CSA} allowCoOwnership", f"{FORCE} allowCoOwnership"),
        given=(MAKES_OWNED,), before=OWNED,
        after=both({"a": "1"}, "data.a", "data ownerReferences ownerReferences.*")._replace(owned_by="owner"),
        said=AVAILABLE, owned=True,
    ),
    Row(
        title="another object owns it", by=(REPORT,), given=(MAKES_OWNED,), before=OWNED,
        said=differs(OLD, "other"), owned=False,
    ),
]  # fmt: skip

EDIT, APPLY = edit(a="x", theirs="1"), apply(a="x", theirs="1")
DRIFT_BY_EDIT = Found({"a": "x", "theirs": "1"}, {"other Update": "data.a data.theirs"})
DRIFT_BY_APPLY = DRIFT_BY_EDIT._replace(owners={"other Apply": "data.a data.theirs"})
HEALED = both(ONE, "data.a", "data.theirs")
DRIFT = [
    Row(
        title="others edit it", by=(CSA, f"{CSA} Never", f"{CSA} IfNoDiff", FORCE), given=(release(), EDIT),
        before=DRIFT_BY_EDIT, after=HEALED, said=AVAILABLE, owned=True,
    ),
    Row(
        title="others apply over it", by=(CSA, FORCE), given=(release(), APPLY), before=DRIFT_BY_APPLY,
        after=both(ONE, "data.a", "data.theirs", "other Apply"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="others edit it", by=(SSA,), given=(release(), EDIT), before=DRIFT_BY_EDIT, said=refused("Conflict"),
        owned=True, because='conflict with "other"',
    ),
    Row(
        title="others apply over it", by=(SSA,), given=(release(), APPLY), before=DRIFT_BY_APPLY,
        said=refused("Conflict"), owned=True, because='conflict with "other": .data.a',
    ),
    Row(
        title="others edit it", by=(f"{CSA} {DRIFTED}", f"{SSA} {DRIFTED}", f"{FORCE} {DRIFTED}"),
        given=(release(), EDIT), before=DRIFT_BY_EDIT, said=refused("FoundDrifts", EDITED, "other"), owned=True,
        because=ApplyText.IS_AND_SHOULD_BE(path="/data/a", there="x", wanted="", by="",
            more_than_first="1, written by other"),
    ),
    Row(
        title="others apply over it", by=(f"{CSA} {DRIFTED}", f"{SSA} {DRIFTED}", f"{FORCE} {DRIFTED}"),
        given=(release(), APPLY), before=DRIFT_BY_APPLY, said=refused("FoundDrifts", EDITED, "other"), owned=True,
    ),
    Row(
        title="others add a field of their own", by=(CSA, SSA, FORCE, f"{CSA} {DRIFTED}", f"{SSA} {DRIFTED}"),
        given=(release(), edit(theirs="1")), before=HEALED, said=AVAILABLE, owned=True,
    ),
    Row(
        title="others edit it, and the manifest changes", by=(CSA, FORCE, f"{CSA} {DRIFTED}", f"{FORCE} {DRIFTED}"),
        given=(release(), EDIT), when=(release(a="2"),), before=DRIFT_BY_EDIT,
        after=both(TWO, "data.a", "data.theirs"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="others edit it, and the manifest changes", by=(SSA, f"{SSA} {DRIFTED}"), given=(release(), EDIT),
        when=(release(a="2"),), before=DRIFT_BY_EDIT, said=refused("Conflict"), owned=True, because="other",
    ),
    Row(
        title="others undo what they edited", by=(f"{CSA} {DRIFTED}", f"{SSA} {DRIFTED}"),
        given=(release(), edit(a="x"), reconcile, edit(a="1")),
        before=Found({"a": "1"}, {"other Update": "data.a"}), said=AVAILABLE, owned=True,
    ),
    Row(
        title="a field leaves the manifest", by=(CSA, SSA, FORCE, f"{CSA} {DRIFTED}"), given=(release(a="1", b="1"),),
        when=(release(),), before=Found({"a": "1", "b": "1"}, {"gitfleet Apply": "data.a data.b"}),
        after=NEW, said=AVAILABLE, owned=True,
    ),
    Row(
        title="a field that others applied, too, leaves the manifest", by=(CSA, f"{CSA} {DRIFTED}"),
        given=(release(a="1", b="1"), apply(a="1", b="1")), when=(release(),),
        before=both({"a": "1", "b": "1"}, "data.a data.b", "data.a data.b", "other Apply"),
        after=both({"a": "1"}, "data.a", "data.a", "other Apply"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="a field that others applied, too, leaves the manifest", by=(SSA, FORCE, f"{SSA} {DRIFTED}"),
        given=(release(a="1", b="1"), apply(a="1", b="1")), when=(release(),),
        before=both({"a": "1", "b": "1"}, "data.a data.b", "data.a data.b", "other Apply"),
        after=both({"a": "1", "b": "1"}, "data.a", "data.a data.b", "other Apply"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="a field leaves the manifest that others changed", by=(f"{CSA} {DRIFTED}",),
        given=(release(a="1", b="1"), edit(b="x")), when=(release(),),
        before=both({"a": "1", "b": "x"}, "data.a", "data.b"), after=NEW, said=AVAILABLE, owned=True,
    ),
    Row(
        title="a field leaves the manifest that others changed", by=(f"{SSA} {DRIFTED}", f"{FORCE} {DRIFTED}"),
        given=(release(a="1", b="1"), edit(b="x")), when=(release(),),
        before=both({"a": "1", "b": "x"}, "data.a", "data.b"), said=AVAILABLE, owned=True,
    ),
    Row(
        title="others delete it", by=(CSA, SSA, FORCE, f"{CSA} {DRIFTED}", f"{CSA} Never"), given=(release(), delete),
        before=None, after=NEW, said=AVAILABLE, owned=True,
    ),
    Row(
        title="others make it anew", by=(CSA, FORCE), given=(release(), delete, MAKES), before=OTHERS, after=OTHERS_OWN,
        said=AVAILABLE, owned=True,
    ),
    Row(
        title="others make it anew", by=(f"{CSA} Never",), given=(release(), delete, MAKES), before=OTHERS,
        said=refused("NotTakenOver"), owned=True, because=ApplyText.REPLACED_SOMEBODY_ELSE(),
    ),
    Row(
        title="others make it anew", by=(f"{CSA} IfNoDiff",), given=(release(), delete, MAKES), before=OTHERS,
        said=refused("FailedToTakeOver", OLD, "other"), owned=True,
    ),
    Row(
        title="others make it anew", by=(SSA,), given=(release(), delete, MAKES), before=OTHERS,
        said=refused("Conflict"), owned=False,
    ),
    Row(
        title="it is to be reported on, and others edit it", by=(CSA, SSA), given=(release(), change_to(REPORT), EDIT),
        before=DRIFT_BY_EDIT, said=differs(EDITED, "other"), owned=True,
    ),
    Row(
        title="it is to be reported on, and others delete it", by=(CSA,), given=(release(), change_to(REPORT), delete),
        before=None, said=differs(ABSENT), owned=True,
    ),
    Row(
        title="it was to be reported on, and is applied again", by=(REPORT,), given=(MAKES, release()),
        when=(change_to(CSA),), before=OTHERS, after=OTHERS_OWN, said=AVAILABLE, owned=True,
    ),
]  # fmt: skip

KEPT = {
    "gitfleet.dev/prune": "false",
    "helm.sh/resource-policy": "keep",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
    "argocd.argoproj.io/sync-options": "Prune=false",
}
WAITS = patch({"metadata": {"finalizers": ["example.com/wait"]}})
WAITED_FOR = both({"a": "1"}, "data.a", "finalizers finalizers.*")
UNPLACED, EMPTY = None, Said("Available True ResourceAvailable")
EVERY = (CSA, SSA, FORCE, f"{CSA} {DRIFTED}", f"{CSA} Never")
REMOVAL = [
    Row(
        title="the placement goes", by=EVERY, given=(release(),), when=(unplace,), before=NEW,
        after=None, said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes, and others apply the object, too", by=(CSA, SSA),
        given=(release(), apply(a="1", theirs="1")), when=(unplace,),
        before=both(ONE, "data.a", "data.a data.theirs", "other Apply"), after=None, said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes, and the object was taken over", by=(CSA,), given=(SAYS_SAME, release()),
        when=(unplace,), before=CO_OWNED, after=None, said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes", by=(f"{CSA} Abandon", f"{SSA} Abandon"), given=(release(),), when=(unplace,),
        before=NEW, said=UNPLACED, owned=False,
    ),
    Row(
        title="the manifest goes", by=(CSA, SSA, f"{CSA} Abandon"), given=(release(),), when=(unselect,), before=NEW,
        after=None, said=EMPTY, owned=False,
    ),
    Row(
        title="an override deletes it", by=(CSA, SSA, f"{CSA} Abandon"), given=(release(),), when=(override_deletes,),
        before=NEW, after=None, said=EMPTY, owned=False,
    ),
    Row(
        title="the placement goes that was to report on it", by=(CSA,), given=(release(), change_to(REPORT)),
        when=(unplace,), before=NEW, after=None, said=UNPLACED, owned=False,
    ),
    Row(
        title="the manifest goes that was to be reported on", by=(CSA,), given=(release(), change_to(REPORT)),
        when=(unselect,), before=NEW, said=SAME, owned=True,
    ),
    Row(
        title="the placement goes that never had it",
        by=(f"{CSA} Never", f"{CSA} IfNoDiff", SSA, f"{SSA} IfNoDiff", REPORT, f"{CSA} Never Abandon"),
        given=(MAKES, release()), when=(unplace,), before=OTHERS, said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes, and nothing of the object is gitfleet's any more", by=(SSA, f"{CSA} {DRIFTED}"),
        given=(release(), edit(a="x"), reconcile), when=(unplace,),
        before=Found({"a": "x"}, {"other Update": "data.a"}), said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes, and others made the object anew", by=(CSA, f"{CSA} Never"),
        given=(release(), delete, SAYS_SAME), when=(unplace,), before=made("1", theirs="1"), said=UNPLACED, owned=False,
    ),
    Row(
        title="the placement goes, and another object owns it", by=(f"{CSA} allowCoOwnership",),
        given=(create(owner="owner", a="1"), release()), when=(unplace,),
        before=both({"a": "1"}, "data.a", OWNED.owners["other Update"])._replace(owned_by="owner"),
        said=UNPLACED, owned=False,
    ),
    *(
        Row(
            title=f"the placement goes, and its manifest has {name}", by=(CSA, SSA), given=(release({name: value}),),
            when=(unplace,), before=Found({"a": "1"}, {"gitfleet Apply": f"annotations.{name} data.a"}, {name: value}),
            said=UNPLACED, owned=False,
        )
        for name, value in KEPT.items()
    ),
    *(
        Row(
            title=f"the manifest goes, and a person wrote {name}", by=(CSA,),
            given=(release(), patch({"metadata": {"annotations": {name: value}}})), when=(unselect,),
            before=both({"a": "1"}, "data.a", f"annotations annotations.{name}")._replace(annotations={name: value}),
            said=EMPTY, owned=False,
        )
        for name, value in KEPT.items()
    ),
    Row(
        title="the placement goes, and the annotation says that it may", by=(CSA,),
        given=(release({"gitfleet.dev/prune": "true"}),), when=(unplace,),
        before=Found(
            {"a": "1"}, {"gitfleet Apply": "annotations.gitfleet.dev/prune data.a"}, {"gitfleet.dev/prune": "true"}
        ),
        after=None, said=UNPLACED, owned=False,
    ),
    Row(
        title="the manifest goes, and a finalizer holds the object", by=(CSA,), given=(release(), WAITS),
        when=(unselect,), before=WAITED_FOR, after=WAITED_FOR._replace(terminating=True),
        said=EMPTY._replace(failed="Terminating"), owned=True,
        because=ApplyText.BEING_DELETED_WAITS_FINALIZERS(finalizers=" (example.com/wait)"),
    ),
    Row(
        title="the manifest goes, and a finalizer held the object", by=(CSA,),
        given=(release(), WAITS, unselect), when=(patch({"metadata": {"finalizers": None}}), reconcile),
        before=WAITED_FOR._replace(terminating=True), after=None, said=EMPTY, owned=False,
    ),
    Row(
        title="the cluster leaves", by=(CSA, SSA), given=(release(),), when=(leave("Abandon"),), before=NEW,
        said=Said("Scheduled True SchedulingPolicyFulfilled"), owned=False,
    ),
    Row(
        title="the cluster leaves and is cleared", by=(CSA, SSA), given=(release(),), when=(leave("Delete"),),
        before=NEW, after=None, said=Said("Scheduled True SchedulingPolicyFulfilled"), owned=False,
    ),
]  # fmt: skip


TAKEOVER = [replace(row, when=(release(),)) for row in TAKEOVER]
ROWS = (*TAKEOVER, *DRIFT, *REMOVAL)
NOT_SIMULATED = {"nobody is recorded to manage it": "managedFields that were emptied, and `before-first-apply`"}
"""The rows that only a real server plays, and what the simulated one does not do."""
SAMPLE = {
    "nothing is there": CSA,
    "others made it differently": f"{CSA} IfNoDiff",
    "kubectl applied it differently": CSA,
    "others applied it differently": SSA,
    "another object owns it": f"{FORCE} allowCoOwnership",
    "others edit it": f"{FORCE} {DRIFTED}",
    "it is to be reported on, and others edit it": CSA,
    "the placement goes": f"{CSA} Abandon",
    "the manifest goes, and a finalizer held the object": CSA,
}
"""What a real server is asked in every run."""


def cases(rows: Iterable[Row]) -> pytest.MarkDecorator:
    found = [pytest.param(row, words, id=f"{row.title}: {words}") for row in rows for words in row.by]
    return pytest.mark.parametrize(("row", "words"), found)


def play_out(row: Row, play: Play) -> None:
    """The row comes true, and then nothing is left to be done."""
    for step in row.given:
        step(play)
    before, version = play.found(), play.version()
    assert before == play.as_recorded(row.before)
    for step in row.when:
        step(play)
    after, commits = play.found(), play.world.state_commits()
    if row.after is UNTOUCHED:
        assert play.version() == version, after
    else:
        assert after == play.as_recorded(row.after)
    assert (play.said(), play.is_owned()) == (row.said, row.owned)
    assert row.because in play.because(), play.because()
    version = play.version()
    play.restart()
    reconcile(play)
    assert (play.version(), play.world.state_commits()) == (version, commits), "nothing is left to be done"


class Strategies:
    """What both servers do."""

    @cases(row for row in ROWS if row.title not in NOT_SIMULATED)
    def test_an_object_that_others_write_too(self, row: Row, words: str, begin: Begin) -> None:
        play_out(row, begin(words))

    @pytest.mark.parametrize(("words", "code", "after"), [
        (CSA, "Applied", both({"a": "1"}, "data.a", "data")),
        (SSA, "Conflict", made("old")),
        (f"{CSA} Never", "NotTakenOver", made("old")),
    ])  # fmt: skip
    def test_what_others_make_between_the_observation_and_the_apply_is_left_to_the_next_reconcile(
        self, words: str, code: str, after: Found, begin: Begin
    ) -> None:
        play = begin(words)
        play.commit()
        (outcome,) = play.reconcile_while(create(a="old"))
        assert outcome.code == "Conflict" and (words != SSA or 'conflict with "other"' in outcome.message)
        assert play.found() == play.as_recorded(made("old"))
        reconcile(play)
        assert play.found() == play.as_recorded(after)
        assert play.said() == (AVAILABLE if code == "Applied" else refused(code))

    @pytest.mark.parametrize("words", [f"{CSA} {DRIFTED}", f"{SSA} {DRIFTED}", f"{FORCE} {DRIFTED}"])
    def test_with_if_not_drifted_an_object_that_others_change_in_between_is_not_written(
        self, words: str, begin: Begin
    ) -> None:
        play = begin(words)
        release()(play)
        play.commit(a="2")
        first = play.reconcile_while(edit(theirs="1"))
        assert [(o.code, o.retry) for o in first] == [("Conflict", True)]
        assert play.found() == HEALED
        reconcile(play)
        assert play.found() == both(TWO, "data.a", "data.theirs")
        assert play.said() == AVAILABLE


class TestOnSimulatedServer(OnSimulatedServer, Strategies):
    """Every row."""


@pytest.mark.soak("real")
class TestOnRealServer(OnRealServer, Strategies):
    """Every row, which is what was seen here."""

    @cases(row for row in ROWS if row.title in NOT_SIMULATED)
    def test_what_is_not_simulated(self, row: Row, words: str, begin: Begin) -> None:
        play_out(row, begin(words))


class TestSampleOnRealServer(OnRealServer):
    """A row of each kind."""

    @cases(replace(row, by=(SAMPLE[row.title],)) for row in ROWS if SAMPLE.get(row.title) in row.by)
    def test_an_object_that_others_write_too(self, row: Row, words: str, begin: Begin) -> None:
        play_out(row, begin(words))
