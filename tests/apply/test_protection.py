"""Which annotations and labels say that an object is never deleted."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.apply.ledgers import protected_by

HELM, FLUX = "helm.sh/resource-policy", "kustomize.toolkit.fluxcd.io/prune"
ARGO, OWN = "argocd.argoproj.io/sync-options", "gitfleet.dev/prune"


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (None, None),
        ({}, None),
        ({"annotations": {OWN: "false"}}, f"{OWN}: false"),
        ({"annotations": {OWN: " True "}}, None),
        ({"annotations": {OWN: "flase"}}, OWN),
        ({"annotations": {OWN: False}}, f"{OWN}: false"),
        ({"labels": {OWN: "false"}}, f"{OWN}: false"),
        ({"annotations": {HELM: "keep"}}, f"{HELM}: keep"),
        ({"annotations": {HELM: " KEEP "}}, f"{HELM}: keep"),
        ({"annotations": {HELM: "disabled"}}, None),
        ({"annotations": {FLUX: "disabled"}}, f"{FLUX}: disabled"),
        ({"annotations": {ARGO: "Validate=false, Prune=false"}}, f"{ARGO}: Prune=false"),
        ({"annotations": {ARGO: "Delete=confirm,Replace=true"}}, f"{ARGO}: Delete=confirm"),
        ({"annotations": {ARGO: "Prune=false Delete=true"}}, None),
        ({"annotations": {"a/b": "keep", OWN: "true", FLUX: "disabled"}}, f"{FLUX}: disabled"),
        ({"annotations": {"a/b": "keep,disabled,prune=false"}}, None),
        ({"annotations": {OWN: "true"}, "labels": {OWN: "false"}}, f"{OWN}: false"),
        ({"finalizers": {OWN: "false"}}, None),
        ({"annotations": {OWN: "true, c4nary"}}, OWN),
        ({"annotations": {OWN: "c4nary, False"}}, f"{OWN}: false"),
        ({"annotations": {OWN: {"a": "c4nary"}}}, OWN),
        ({"annotations": {ARGO: f"delete=FALSE,{'c4nary' * 10_000}"}}, f"{ARGO}: Delete=false"),
        ({"annotations": [HELM], "labels": {HELM: "keep"}}, f"{HELM}: keep"),
        ({"annotations": {HELM: "keep"}, "labels": HELM}, f"{HELM}: keep"),
        ({"annotations": HELM, "labels": [HELM]}, None),
        ([HELM], None),
    ],
)
def test_what_says_that_an_object_stays(metadata: Any, said: str | None) -> None:
    assert protected_by({"kind": "ConfigMap", "metadata": metadata}) == said
    assert protected_by({}) is None
