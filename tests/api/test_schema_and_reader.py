"""The JSON Schema of a kind and its reader accept the same documents: every field of every kind, missing, unknown, and
with every probe in its place; and whatever a rule refuses that a schema cannot say is listed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitfleet.api import Break, Location, dotted, read
from gitfleet.api.kinds import KINDS, Kind, Place
from gitfleet.api.texts import ApiText
from gitfleet.formats.text_table import TextTable
from gitfleet.formats.texts import FormatsText
from tests.api.test_every_kind import at, json_values, places_of, with_value
from tests.profiles import PROFILE
from tests.texts import part

WRITTEN = {kind.name: kind for kind in KINDS.values() if kind.place is not Place.STATE_BRANCH}
SCHEMAS = {name: kind.schema() for name, kind in WRITTEN.items()}
TEXTS: Final = (
    "x", "", "0", "7", "a.b/c", "-", "A", "a b", "a_b", "x" * 63, "x" * 64, "x" * 253, "x" * 254, "x" * 254 + "/c",
    "25%", "0%", "00%", "101%", "1.5Gi", "1e400", "30s", "99999h", "0s", "1.5h30m", "1d", "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00", "2026-99-31T12:00:00Z", "/spec/replicas", "spec", "/kind", "/metadata/name",
    "/metadata/labels/a", "/spec/x/1234567", "/spec//x", "never", "true", "ns/name", "*", "é",
    "resources.kubernetes-fleet.io/total-cpu", "resources.kubernetes-fleet.io/cpu", "0" * 64,
    "0 18 * * 5", "0 18 * *", "60 18 * * 5", "Europe/Berlin", "Europe/Berln", "747h", "1.36",
    "ssh-ed25519 AAAAC3Nza name", "ssh-ed25519", "apps/v1", "v", "-1.5", "{{ x }}", "{{",
    "https://a.example/x", "http://[::1]:80?y=1", "https://u:p@a.example", "https://a.example/#x", "ftp://a.example",
    "https://a.example:0", "https://",
)  # fmt: skip
OTHERS: Final[tuple[Any, ...]] = (
    0, 1, 7, 200, -1, -101, 1001, 1.5, True, False, [], ["x"], ["x", "y"], [{}], [1], {}, {"x": "y"}, {"x": 1},
    {"-": "y"}, {"x": "-"},
)  # fmt: skip
PROBES: Final = (*TEXTS, *OTHERS)
"""What stands in for each value. Null is none of them: it is read as an absent field, in every place, and a schema
that said so of each field would offer it."""
BEYOND: Final = (
    # Which fields go with which: rules between fields (methods `breaks`).
    ApiText.NOT_GO_OTHER_NAME_FIELD, ApiText.NOT_GO_OVERRIDETYPE_DELETE, ApiText.NOT_GO_PICKALL_PLACEMENT,
    ApiText.NOT_GO_PLACEMENTTYPE, ApiText.NOT_GO_PODS_BOTH_REVISIONS, ApiText.NOT_GO_REMOVE, ApiText.NOT_GO_REPLICAS,
    ApiText.NOT_GO_ROLLOUTBATCHES, ApiText.NOT_GO_STRATEGY_TYPE_EXTERNAL, ApiText.NOT_GO_TYPE,
    ApiText.ONLY_GOES_APPLYSTRATEGY_TYPE_SERVERSIDEAPPLY, ApiText.ONLY_GOES_KIND_NAMESPACE,
    ApiText.ONLY_SORTS_PREFERRED_CLUSTERS, ApiText.ONLY_REQUIRED_TERMS, ApiText.NO_EFFECT_PLACEMENTTYPE_PICKALL,
    ApiText.CANNOT_STAND_BESIDE_NAME, ApiText.NOT_SUPPORTED_OVERRIDES, ApiText.MUST_APPROVAL_BEFORE_STAGE,
    ApiText.NAMESPACEACCESSIBLE_NEEDS_EXACTLY_ONE_NAMESPACE, ApiText.NEEDS_EXACTLY_ONE,
    ApiText.NEEDS_EXACTLY_ONE_CONTEXT, ApiText.NEEDS_EXACTLY_ONE_FILE_SECRET,
    ApiText.NEEDS_EXACTLY_ONE_MAXUNAVAILABLE_MINAVAILABLE, ApiText.NEEDS_EXACTLY_ONE_NAMESPACE_SELECTOR,
    ApiText.NEEDS_EXACTLY_ONE_STATUS, ApiText.NEEDS_EXACTLY_ONE_VALUE, ApiText.ABOUT_REPORTS_AGENT,
    ApiText.MUST_BEGINNING_BRANCH_NAME_ENDS, ApiText.MUST_EMPTY_OPERATOR_EXISTS, ApiText.MUST_NOT_EMPTY_OPERATOR_EQUAL,
    ApiText.REQUIRED_PLACEMENTTYPE_PICKN, ApiText.REQUIRED_TYPE_ANALYSIS, ApiText.REQUIRED_TYPE_TIMEDWAIT,
    ApiText.REQUIRED_EACH_TERM, ApiText.NEEDS_LEAST_ONE_PATCH_OVERRIDETYPE, ApiText.NEEDS_LEAST_ONE_VALUE,
    ApiText.NEEDS_LEAST_ONE_WINDOWS, ApiText.TAKES_NO_VALUES, ApiText.NEEDS_AVAILABLE_DURATION_NEVER_APPLY,
    ApiText.NEEDS_AVAILABLE_FAILED, ApiText.NEEDS_JSONPOINTERS_MANAGERS, ApiText.NAME_ANOTHER_BRANCH,
    ApiText.AMONG_BRANCHES_GITFLEET_MAKES_REMOVES, ApiText.AMONG_BRANCHES_GIVE_EACH_NAME,
    # What stands twice, or contradicts another item of its list.
    ApiText.STANDS_TWICE_BATCHES, ApiText.STANDS_TWICE_REMOVE_ONE, ApiText.STANDS_TWICE_REMOVE_ONE_2,
    ApiText.ALREADY_LIST_KEEP_ONE_HEALTH, ApiText.NAMES_CLUSTER_ALREADY_LIST, ApiText.SELECTS_RESOURCE_ALREADY_LIST,
    ApiText.TAKEN_EARLIER_RENAME, ApiText.CONTRADICTS_EARLIER_REQUIREMENT,
    # Numbers that stand in a text.
    FormatsText.MUST_MOST_TEN_YEARS, ApiText.MUST_MOST_DAYS_H, ApiText.NOT_LATER_FROM,
    ApiText.LONG_WINDOW_BEGINS_AGAIN_BEFORE, FormatsText.CRON_NOT_KNOW,
    FormatsText.NO_TIME_ZONE_IANA_DATABASE, FormatsText.MORE_DIGITS_CANNOT_COMPARED, FormatsText.NO_CEL_EXPRESSION,
    ApiText.NAME_FOLDER_OR_PLACEMENT, ApiText.VARIANT_NEVER_MATCHES, ApiText.NEEDS_NAMESPACE, ApiText.KIND_LISTED_TWICE,
    # Plans of workload rollouts: what batches add up to, and what does not go with what.
    ApiText.MUST_MOST_M, ApiText.MORE_PODS_LOWER_PERCENTAGES_ALL, ApiText.MORE_PODS_TARGETSIZE,
    ApiText.PODS_TARGETSIZE_CORRECT_ONE, ApiText.NEEDS_METRICSRANGE_SUCCESSCONDITION_FAILURECONDITION,
    ApiText.NEEDS_MIN_MAX, ApiText.MUST_NOT_ABOVE_MAX, ApiText.NEEDS_REPLICAS_PODLIST,
    ApiText.MUST_PRE_BATCH_ROLLOUT_POST, ApiText.MUST_MORE_ROLLOUTSTRATEGY_DECREASEFIRST,
    ApiText.MUST_MOST_LAST_BATCH_COUNTED, ApiText.MUST_KIND_TARGET, ApiText.TARGET_NAME_WORKLOAD_OLDER_CONTENT,
    ApiText.TARGETREVISION_NAME_SNAPSHOT_OLDER_CONTENT, ApiText.MUST_NOT_EMPTY_WRITE_INDEX,
    FormatsText.WITHOUT_NAME_VARIABLE,
)  # fmt: skip
"""By which sentences the reader refuses what the schema cannot say or leaves to `gitfleet validate`."""
PARTLY: Final = (
    FormatsText.MUST_TIME_T12_Z,  # days that no calendar has; editors know them by the format date-time
    ApiText.REQUIRED_ADD,  # the other of two fields that go together
)
"""And what the schema says too, but not in every case."""
EACH: Final = {"quick": 61, "mutants": 61, "soak": 1}.get(PROFILE, 17)
"""Every how many-th change is tried."""
Strict: Final = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer",  # to JSON Schema 1.0 is a whole number, to an API server it is none
        lambda _, value: isinstance(value, int) and not isinstance(value, bool),
    ),
)


@cache
def validator(name: str) -> Any:
    return Strict(SCHEMAS[name])


def example(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """A value with every field that a schema knows."""
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], root)
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), root)]
    if schema.get("type") == "object":
        properties = {name: part for name, part in schema.get("properties", {}).items() if "deprecated" not in part}
        fields = {name: example(part, root) for name, part in properties.items()}
        more = schema.get("additionalProperties")
        return {**fields, "x": example(more, root)} if isinstance(more, Mapping) else fields
    sound = Strict({**schema, "$defs": root["$defs"]})
    return next(value for value in (*schema.get("enum", ()), schema.get("const"), *PROBES) if sound.is_valid(value))


FULL = {name: example(schema, schema) for name, schema in SCHEMAS.items()}


def refusals(kind: Kind, body: Any) -> list[Break]:
    """What the reader has against a document, and that it is of another kind, version or scope."""
    named = (kind.name, *(f"{kind.group}/{version}" for version in kind.versions))
    metadata = body.get("metadata") if isinstance(body, dict) else None
    is_given = kind.name == "HelmRelease"  # by its Folder
    homeless = kind.namespaced and not is_given and isinstance(metadata, dict) and not metadata.get("namespace")
    wrong = ["namespace"] if homeless else []
    wrong += [field for field in ("kind", "apiVersion") if not isinstance(body, dict) or body.get(field) not in named]
    return [*read(kind.declaration, body)[1], *(((field,), "is of another kind or scope") for field in wrong)]


def disagreement(kind: Kind, body: Any, found: list[Break]) -> str | None:
    """What one of the two accepts and the other refuses, in a sentence; `found` is what the reader says."""
    if validator(kind.name).is_valid(body):
        surprising = [one for one in found if not _has(one, (*BEYOND, *PARTLY))]
        return f"only the reader refuses: {surprising}" if surprising else None
    if all(_has(one, BEYOND) for one in found):
        errors = [f"{error.json_path} {error.message[:200]}" for error in validator(kind.name).iter_errors(body)]
        return f"only the schema refuses: {errors}"
    return None


def _has(refusal: Break, codes: tuple[TextTable, ...]) -> bool:
    return any(part(code) in refusal[1] for code in codes)


def changed(body: Any) -> Iterator[tuple[Location, Any]]:
    """Every single change of a document: a place, and what stands there instead."""
    known = set[Location]()
    for place in places_of(body):
        here = at(body, place)
        if (label := place[-4:] if len(place) > 4 else place) in known:
            continue  # the same declaration stands in another place too, where it was changed
        known.add(label)
        if isinstance(here, dict):
            yield place, {**here, "zzUnknown": "x"}
            yield from ((place, {key: here[key] for key in here if key != name}) for name in here)
        if isinstance(here, list):
            yield place, here * 2
        probes = PROBES if isinstance(here, str) else (*OTHERS, "x", "7", "25%", "0%", "30s")
        yield from ((place, probe) for probe in (probes if place else ()))


@pytest.mark.deeper("properties")
@pytest.mark.parametrize("name", WRITTEN)
def test_both_accept_the_same_whatever_stands_in_one_place(name: str) -> None:
    kind, found, said = WRITTEN[name], [], set[str]()
    assert validator(name).is_valid(FULL[name])
    for place, value in islice(changed(FULL[name]), 0, None, EACH):
        if kind.namespaced and place[:1] == ("spec",) and len(place) > 1:
            continue  # as in the kind of the cluster scope
        body = with_value(FULL[name], place, value)
        breaks = refusals(kind, body)
        wrong = disagreement(kind, body, breaks)
        found += [f"{dotted(place)} {value!r}: {wrong}"] if wrong else []
        said |= {sentence for _, sentence in breaks}
    assert len(said) > 2
    assert not found, "\n".join(found[:10])


def has_null(value: Any) -> bool:
    """Whether null stands anywhere in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inner))


@given(st.sampled_from(sorted(WRITTEN)), st.data(), json_values)
def test_both_accept_the_same_whatever_stands_anywhere(name: str, data: st.DataObject, value: Any) -> None:
    assume(not has_null(value))  # the reader takes null as a field that is not there, as an API server does
    body = FULL[name]
    for _ in range(2):
        place = data.draw(st.sampled_from([place for place in places_of(body) if place]))
        body = with_value(body, place, value)
    assert disagreement(WRITTEN[name], body, refusals(WRITTEN[name], body)) is None
