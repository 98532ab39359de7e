"""Hook annotations of Argo CD and Helm."""

from __future__ import annotations

import pytest

from gitfleet.api.steps import STEP_TIMEOUT, Hook, Phase, hook_of, never_run, step_of, step_seconds
from gitfleet.formats.texts import FormatsText
from tests import builders
from tests.apply.model_cluster import manifest

ARGO, HELM = "argocd.argoproj.io", "helm.sh"
BEFORE, WITH, AFTER, ON_FAILURE = Phase


@pytest.mark.parametrize(
    ("annotations", "hook"),
    [
        ({}, None),
        ({f"{ARGO}/hook": ""}, None),
        ({f"{ARGO}/hook": "Skip", f"{HELM}/hook": "pre-install"}, None),
        ({f"{ARGO}/hook": "PreSync"}, Hook(names=("PreSync",), install=BEFORE, upgrade=BEFORE)),
        ({f"{ARGO}/hook": "PostSync,Sync"}, Hook(names=("PostSync", "Sync"), install=WITH, upgrade=WITH)),
        ({f"{ARGO}/hook": "SyncFail"}, Hook(names=("SyncFail",), install=ON_FAILURE, upgrade=ON_FAILURE)),
        ({f"{ARGO}/hook": "PostDelete"}, Hook(names=("PostDelete",))),
        ({f"{HELM}/hook": "pre-install"}, Hook(names=("pre-install",), install=BEFORE)),
        (
            {f"{HELM}/hook": "post-install, pre-upgrade"},
            Hook(names=("post-install", "pre-upgrade"), install=AFTER, upgrade=BEFORE),
        ),
        ({f"{HELM}/hook": "post-upgrade,pre-rollback"}, Hook(names=("post-upgrade", "pre-rollback"), upgrade=AFTER)),
        ({f"{HELM}/hook": "test"}, Hook(names=("test",))),
        (
            {
                f"{HELM}/hook": "pre-upgrade",
                f"{HELM}/hook-weight": "5",
                f"{HELM}/hook-delete-policy": "before-hook-creation,hook-succeeded",
            },
            Hook(names=("pre-upgrade",), upgrade=BEFORE, weight=5, deletes_succeeded=True),
        ),
        (
            {f"{ARGO}/hook": "Sync", f"{ARGO}/sync-wave": "soon", f"{ARGO}/hook-delete-policy": "HookFailed"},
            Hook(names=("Sync",), install=WITH, upgrade=WITH, deletes_failed=True),
        ),
    ],
)
def test_hooks(annotations: dict[str, str], hook: Hook | None) -> None:
    assert hook_of(builders.job("apps", "migrate", annotations=annotations)) == hook


@pytest.mark.parametrize("metadata", [None, {}, {"annotations": None}, {"annotations": {f"{ARGO}/hook": 1}}])
def test_what_has_no_annotations_is_ordinary(metadata: object) -> None:
    assert hook_of({"metadata": metadata}) is None


@pytest.mark.parametrize(
    ("kind", "hook", "is_step", "is_placed"),
    [
        ("Job", "PreSync", True, True),
        ("Job", "PostDelete", False, False),
        ("ConfigMap", "PreSync", False, True),
        ("ConfigMap", "PreDelete", False, False),
        ("Pod", "PreSync", False, False),
        ("Pod", "Skip", False, True),
    ],
)
def test_what_is_a_step_and_what_is_placed(kind: str, hook: str, is_step: bool, is_placed: bool) -> None:
    api_version = "batch/v1" if kind == "Job" else "v1"
    body = builders.an_object(api_version, kind, "one", namespace="apps", annotations={f"{ARGO}/hook": hook})
    assert (step_of(manifest(body)) is not None, never_run(manifest(body)) is None) == (is_step, is_placed)


def test_the_limit_of_a_step() -> None:
    assert step_seconds(builders.job("apps", "migrate")) == 600
    assert step_seconds(builders.job("apps", "migrate", annotations={STEP_TIMEOUT: "1h30m"})) == 5400
    with pytest.raises(ValueError, match=FormatsText.MUST_DURATION_M_H30M()):
        step_seconds(builders.job("apps", "migrate", annotations={STEP_TIMEOUT: "soon"}))
