"""What is said of hook annotations, and of Jobs that run as steps."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.desired import read_desired
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from tests import builders
from tests.desired.commits import request_of

SHOP = {"resources/shop.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}


def desired_of(annotations: dict[str, str], **parts: Any) -> Any:
    """A commit with a Job in a namespace."""
    body = builders.job("shop", "migrate", annotations=annotations)
    metadata = {**body["metadata"], **parts.pop("metadata", {})}
    body = {**body, "metadata": {key: value for key, value in metadata.items() if value}}
    body["spec"] |= parts
    return read_desired(request_of({**SHOP, "resources/job.yaml": builders.to_yaml(body)}))


@pytest.mark.parametrize(
    ("annotations", "parts", "faults"),
    [
        ({"argocd.argoproj.io/hook": "PreSync"}, {}, []),
        (
            {"helm.sh/hook": "pre-delete,test"},
            {},
            [("warning", "metadata.annotations", DesiredText.HOOK_NOT_RUN(hooks="pre-delete, test", kind="Job"))],
        ),
        (
            {"gitfleet.dev/step-timeout": "10"},
            {},
            [
                (
                    "error",
                    'metadata.annotations["gitfleet.dev/step-timeout"]',
                    FormatsText.MUST_DURATION_M_H30M(),
                )
            ],
        ),
    ],
)
def test_what_is_said_of_a_job(
    annotations: dict[str, str], parts: dict[str, Any], faults: list[tuple[str, str, str]]
) -> None:
    found = desired_of(annotations, **parts).faults
    assert [(str(fault.severity), fault.field, fault.message) for fault in found] == faults


def test_a_hook_gets_the_name_that_its_content_gives_it() -> None:
    generated = {"name": "", "generateName": "migrate-"}
    hook = {"argocd.argoproj.io/hook": "PreSync"}
    first, second = (
        next(
            m.key.name for m in desired_of(hook, metadata=generated, backoffLimit=limit).payload if m.key.kind == "Job"
        )
        for limit in (1, 2)
    )
    assert (first[:8], len(first), first == second) == ("migrate-", 16, False)
    (fault,) = desired_of({}, metadata=generated).faults
    assert fault.field == "metadata.generateName"
