"""The parts that the shapes of all kinds share: names, labels, selectors, metadata, conditions.

A shape is what people may write: every unknown field is refused, booleans and numbers are strict, and its JSON Schema
is what editors use. Shapes never leave this package; `gitfleet.model` values do.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from gitfleet.api.conditions import Condition, Conditions, Status
from gitfleet.api.labels import LabelRequirement, LabelSelector

_DNS_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN: Final = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_NAMESPACE: Final = re.compile(_DNS_LABEL)
_NAME_PART: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_PERCENT: Final = re.compile(r"(?:100|[0-9]{1,2})%")
_GO_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Shape(BaseModel):
    """A mapping in a file that people write: camelCase fields, none unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


def is_dns_subdomain(text: str, longest: int = 253) -> bool:
    """Kubernetes' DNS-1123 subdomain: what most objects' names are."""
    return len(text) <= longest and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_qualified_name(text: str) -> bool:
    """Kubernetes' qualified name, such as a label key: an optional DNS prefix and slash, a name of at most 63."""
    prefix, slash, name = text.rpartition("/")
    return _NAME_PART.fullmatch(name) is not None and (not slash or is_dns_subdomain(prefix))


def is_label_value(text: str) -> bool:
    """Kubernetes' label value: at most 63 of letters, digits, `-_.`, beginning and ending with a letter or digit."""
    return _LABEL_VALUE.fullmatch(text) is not None


def _object_name(text: str) -> str:
    if not is_dns_subdomain(text):
        raise ValueError("must be lower-case letters, digits, dashes and dots, at most 253; rename it")
    return text


def _short_name(text: str) -> str:
    if not is_dns_subdomain(text, 63):
        raise ValueError("must be lower-case letters, digits, dashes and dots, at most 63; rename it")
    return text


def _namespace(text: str) -> str:
    if len(text) > 63 or not _NAMESPACE.fullmatch(text):
        raise ValueError("must be lower-case letters, digits and dashes, at most 63; rename it")
    return text


def _label_key(text: str) -> str:
    if not is_qualified_name(text):
        raise ValueError("is not a valid label key; use letters, digits and -_. with an optional dns.prefix/")
    return text


def _label_value(text: str) -> str:
    if not is_label_value(text):
        raise ValueError("is not a valid label value; use at most 63 letters, digits and -_.")
    return text


def _number_as_text(value: Any) -> Any:
    # The seed (PickN placement type) writes `critical-level: 1`: a whole number stands for its digits.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def int_or_percent(value: Any) -> int | str:
    """A whole number of at least 0, or 0% to 100%."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("must be a whole number or a percentage such as 25%; correct it")
    if isinstance(value, int):
        if value < 0:
            raise ValueError("must be at least 0; raise it")
        return value
    if not _PERCENT.fullmatch(value):
        raise ValueError("must be a whole number without quotes, or a percentage from 0% to 100%; correct it")
    return value


def seconds_of(text: str) -> float:
    """Seconds of a Go duration (`90s`, `1h30m`); ValueError when it is none or not more than zero."""
    total, end = 0.0, 0
    for match in _GO_DURATION.finditer(text):
        if match.start() != end:
            break
        total += float(match[1]) * _UNITS[match[2]]
        end = match.end()
    if not text or end != len(text):
        raise ValueError("must be a duration such as 30s, 5m or 1h30m; correct it")
    if not 0 < total < 10**9:
        raise ValueError("must be a duration of more than zero; raise it")
    return total


def _duration(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a duration such as 30s, 5m or 1h30m; correct it")
    seconds_of(value)
    return value


def parse_time(text: str) -> datetime:
    """An RFC 3339 time; ValueError with a sentence otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError('must be a time such as "2026-01-31T12:00:00Z"; correct it') from None
    if moment.tzinfo is None:
        raise ValueError("must be a time with a zone, such as a final Z; add it")
    return moment


def _time_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('must be a time such as "2026-01-31T12:00:00Z"; correct it')
    parse_time(value)
    return value


def _text_of_quantity(value: Any) -> Any:
    # The seed (cluster properties) writes `cpu: 32`; the API server takes numbers for quantities too.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


ObjectName = Annotated[str, AfterValidator(_object_name)]
ShortName = Annotated[str, AfterValidator(_short_name)]
NamespaceName = Annotated[str, AfterValidator(_namespace)]
LabelKey = Annotated[str, AfterValidator(_label_key)]
LabelValue = Annotated[str, AfterValidator(_label_value)]
SelectorValue = Annotated[str, BeforeValidator(_number_as_text), AfterValidator(_label_value)]
QuantityText = Annotated[str, BeforeValidator(_text_of_quantity)]
NonEmpty = Annotated[str, Field(min_length=1)]
_INT_OR_PERCENT_SCHEMA: Final = {
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]
}
IntOrPercent = Annotated[Any, AfterValidator(int_or_percent), WithJsonSchema(_INT_OR_PERCENT_SCHEMA)]
Duration = Annotated[
    Any, AfterValidator(_duration), WithJsonSchema({"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"})
]
Time = Annotated[Any, AfterValidator(_time_text), WithJsonSchema({"type": "string", "format": "date-time"})]
AnyMapping = dict[str, Any]


class LabelRequirementShape(Shape):
    """One matchExpression of a label selector."""

    key: LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[SelectorValue] = Field(default_factory=list)


class LabelSelectorShape(Shape):
    """metav1.LabelSelector."""

    match_labels: dict[LabelKey, SelectorValue] = Field(default_factory=dict)
    match_expressions: list[LabelRequirementShape] = Field(default_factory=list)

    def to_model(self) -> LabelSelector:
        """The selector as the packages use it."""
        return LabelSelector(
            dict(self.match_labels),
            tuple(LabelRequirement(e.key, e.operator, tuple(e.values)) for e in self.match_expressions),
        )


def selector_breaks(selector: LabelSelectorShape | None) -> list[tuple[tuple[str | int, ...], str]]:
    """In and NotIn need values, Exists and DoesNotExist take none (apimachinery LabelSelectorAsSelector)."""
    breaks: list[tuple[tuple[str | int, ...], str]] = []
    for index, expression in enumerate(selector.match_expressions if selector else []):
        needs = expression.operator in ("In", "NotIn")
        if needs and not expression.values:
            sentence = f"{expression.operator} needs at least one value; add it"
            breaks.append((("matchExpressions", index, "values"), sentence))
        if not needs and expression.values:
            sentence = f"{expression.operator} takes no values; remove them"
            breaks.append((("matchExpressions", index, "values"), sentence))
    return breaks


class MetadataShape(Shape):
    """ObjectMeta: what people write, and what a server adds to an object that was copied from one (kept, unused)."""

    name: ObjectName
    namespace: NamespaceName | None = None
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    annotations: dict[LabelKey, str] = Field(default_factory=dict)
    finalizers: list[str] = Field(default_factory=list)
    generate_name: str | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    generation: int | None = None
    resource_version: str | None = None
    self_link: str | None = None
    uid: str | None = None
    owner_references: list[AnyMapping] = Field(default_factory=list)
    managed_fields: list[AnyMapping] = Field(default_factory=list)


class ShortMetadataShape(MetadataShape):
    """ObjectMeta of kinds whose names KubeFleet limits to 63 characters."""

    name: ShortName


class ConditionShape(Shape):
    """metav1.Condition; people may leave out all but type and status."""

    type: NonEmpty
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    observed_generation: int = 0


def conditions_of(shapes: list[ConditionShape]) -> Conditions:
    """The conditions as the packages use them; a missing transition time is the epoch, since no clock is read here."""
    return tuple(
        Condition(
            type=shape.type,
            status=Status(shape.status),
            reason=shape.reason,
            message=shape.message,
            last_transition_time=parse_time(shape.last_transition_time) if shape.last_transition_time else _EPOCH,
            observed_generation=shape.observed_generation,
        )
        for shape in shapes
    )


class ObjectShape(Shape):
    """The top of every document of ours."""

    api_version: str
    kind: str
    metadata: MetadataShape
    status: AnyMapping | None = None
