"""The values that the fields of all kinds share: names, labels, quantities, durations, times."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from annotated_types import MinLen

from gitfleet.api.annotations import Accept, Check, Default, Form, Inline
from gitfleet.api.texts import ApiText
from gitfleet.formats.durations import SCHEMA as DURATION_SCHEMA
from gitfleet.formats.durations import read_seconds, seconds_text
from gitfleet.formats.git_names import BRANCH, is_branch
from gitfleet.formats.int_or_percent import ABOVE_ZERO_SCHEMA, is_zero, read_int_or_percent
from gitfleet.formats.int_or_percent import SCHEMA as INT_OR_PERCENT_SCHEMA
from gitfleet.formats.managed_fields import FIELD_MANAGER, ROLLOUT_MANAGER
from gitfleet.formats.times import SCHEMA as TIME_SCHEMA
from gitfleet.formats.times import read_time, time_text

_DNS_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
DNS_SUBDOMAIN: Final = rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*"
_DNS_SUBDOMAIN: Final = re.compile(DNS_SUBDOMAIN)
_NAMESPACE: Final = re.compile(_DNS_LABEL)
_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}")
_NAME_PART: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PROPERTY_PART: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
PROPERTY_NAME: Final = rf"{_PROPERTY_PART}(?:/{_PROPERTY_PART})*"
"""The name of a cluster's property: parts of qualified names with any number of slashes between them, as in Azure's
`kubernetes.azure.com/vm-sizes/NAME/count` (decision D36)."""
_SNAPSHOT_NUMBER: Final = re.compile("[0-9]{0,18}")
_LABEL_VALUE: Final = rf"(?:{_NAME_PART})?"
"""Kubernetes' label value: at most 63 of letters, digits, `-_.`, beginning and ending with a letter or digit."""
QUALIFIED_NAME: Final = rf"(?![^/]{{254}})(?:{DNS_SUBDOMAIN}/)?{_NAME_PART}"


def is_dns_subdomain(text: str, longest: int = 253) -> bool:
    """Kubernetes' DNS-1123 subdomain: what most objects' names are."""
    return len(text) <= longest and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_object_name(text: str) -> bool:
    """What can be the name of an object of any kind: one segment of an API server's path (Kubernetes'
    ValidatePathSegmentName), and characters that can be printed."""
    return 0 < len(text) <= 253 and text not in (".", "..") and not set("/%") & set(text) and text.isprintable()


@dataclass(frozen=True, slots=True)
class NameRule:
    """What API servers take as the name of a kind's objects: letters and digits in lower case, dashes, and `dots`."""

    dots: bool = True
    longest: int = 253

    def allows(self, text: str) -> bool:
        """Whether a text can be such a name."""
        return is_dns_subdomain(text, self.longest) and (self.dots or "." not in text)


_LABEL: Final = NameRule(dots=False, longest=63)
_NAME_RULES: Final[Mapping[tuple[str, str], NameRule | None]] = {
    ("", "Namespace"): _LABEL,
    ("", "Service"): _LABEL,  # a letter comes first before Kubernetes 1.36
    ("apps", "StatefulSet"): _LABEL,
    ("batch", "CronJob"): NameRule(longest=52),
    ("apiregistration.k8s.io", "APIService"): None,
    ("certificates.k8s.io", "CertificateSigningRequest"): None,
    ("certificates.k8s.io", "ClusterTrustBundle"): None,
    ("networking.k8s.io", "IPAddress"): None,
    ("policy", "PodDisruptionBudget"): None,
    **dict.fromkeys(
        (("rbac.authorization.k8s.io", kind) for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")),
        None,
    ),
}
"""Source: kubernetes v1.36 pkg/apis/*/validation. All others, custom kinds too, have names that are DNS subdomains."""


def name_rule(group: str, kind: str) -> NameRule | None:
    """The rule for the names of a kind; None where `is_object_name` is all."""
    return _NAME_RULES.get((group, kind), NameRule())


def is_kind_name(text: str) -> bool:
    """What can be the name of a kind: a letter, then letters and digits."""
    return _KIND.fullmatch(text) is not None


def is_namespace_name(text: str) -> bool:
    """Kubernetes' DNS-1123 label: what a namespace's name is."""
    return len(text) <= 63 and _NAMESPACE.fullmatch(text) is not None


def is_reserved_namespace(name: str) -> bool:
    """Whether a namespace belongs to Kubernetes or to the fleet itself; placing it is a user error (decision D37)."""
    return name == "default" or name.startswith(("kube-", "fleet-"))


def matching(pattern: str, sentence: str, longest: int | None = None) -> Check:
    """A check of texts by a pattern and their length in characters, which say the same to editors."""
    regex = re.compile(pattern)

    def fault(text: str) -> str | None:
        fits = (longest is None or len(text) <= longest) and regex.fullmatch(text) is not None
        return None if fits else sentence

    return Check(fault, {"pattern": whole(pattern), **({"maxLength": longest} if longest else {})})


def whole(pattern: str) -> str:
    """A pattern for a JSON Schema, whose patterns match anywhere in a text."""
    return f"^(?:{pattern})$"


def _number_as_text(value: Any) -> Any:
    # The seed (PickN placement type) writes `critical-level: 1`: a whole number stands for its digits.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _quantity_as_text(value: Any) -> Any:
    # The seed (cluster properties) writes `cpu: 32`; the API server takes numbers for quantities too.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def read_index(text: Any) -> int:
    """A whole number that is written as text, as labels and annotations are; ValueError otherwise."""
    if not isinstance(text, str) or not text.isascii() or not text.isdigit():
        raise ValueError(ApiText.MUST_WHOLE_NUMBER_QUOTES())
    return int(text)


def read_bytes_text(text: Any) -> str:
    """Text that stands in a file as Go's []byte does; ValueError when it is none."""
    try:
        return b64decode(text, validate=True).decode()
    except (ValueError, TypeError):
        raise ValueError("must be base64") from None


def read_snapshot_index(value: Any) -> str | None:
    """The number of a snapshot, as text; None for an empty one, ValueError where it is none."""
    # KubeFleet has a string here; a plain whole number cannot be misunderstood.
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _SNAPSHOT_NUMBER.fullmatch(text):
        raise ValueError(ApiText.MUST_NUMBER_SNAPSHOT())
    return text or None


_IS_LABEL_VALUE: Final = matching(_LABEL_VALUE, ApiText.NOT_VALID_LABEL_VALUE())
ObjectName = Annotated[str, matching(DNS_SUBDOMAIN, ApiText.MUST_LOWER_CASE_LETTERS_DIGITS_DASHES(), 253)]
ShortName = Annotated[str, matching(DNS_SUBDOMAIN, ApiText.MUST_LOWER_CASE_LETTERS_DIGITS_DASHES_DOTS(), 63)]
NamespaceName = Annotated[str, matching(_DNS_LABEL, ApiText.MUST_LOWER_CASE_LETTERS_DIGITS_DASHES_MOST(), 63)]
ApiGroup = Annotated[str, matching(rf"(?:{DNS_SUBDOMAIN})?", ApiText.MUST_API_GROUP_WITHOUT_VERSION(), 253)]
KindName = Annotated[str, matching(_KIND.pattern, ApiText.MUST_NAME_KIND())]
_POINTER: Final = r"(?!/(?:apiVersion|kind|metadata(?:/(?:name|uid|managedFields).*)?)$)(?:/(?:[^~/]|~[01])+)+"
FieldPointer = Annotated[str, matching(_POINTER, ApiText.MUST_JSON_POINTER_SPEC_REPLICAS())]
OtherManager = Annotated[
    str,
    matching(
        rf"(?!(?:{FIELD_MANAGER}|{ROLLOUT_MANAGER})$)[\s\S]+",
        ApiText.MUST_NAME_ANOTHER_FIELD_MANAGER(field_manager=FIELD_MANAGER, rollout_manager=ROLLOUT_MANAGER),
    ),
]
LabelKey = Annotated[str, matching(QUALIFIED_NAME, ApiText.NOT_VALID_LABEL_KEY())]
LabelValue = Annotated[str, _IS_LABEL_VALUE]
SelectorValue = Annotated[str, Accept(_number_as_text, lambda _: {"type": "integer", "minimum": 0}), _IS_LABEL_VALUE]
QuantityText = Annotated[str, Accept(_quantity_as_text, lambda _: {"type": "number"})]
NonEmpty = Annotated[str, MinLen(1)]
_API_VERSION: Final = rf"(?:{DNS_SUBDOMAIN}/)?v[0-9][a-z0-9]{{0,61}}"
ApiVersion = Annotated[str, matching(_API_VERSION, ApiText.MUST_API_GROUP_VERSION(), 253)]
_HOST: Final = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_URL: Final = rf"https?://{_HOST}(?::[1-9][0-9]{{0,4}})?(?:[/?][!-\x22$-~]*)?"
HttpUrl = Annotated[str, matching(_URL, ApiText.MUST_HTTP_HTTPS_URL_HOST(), 2000)]
BranchName = Annotated[
    str,
    Check(lambda text: None if is_branch(text) else ApiText.MUST_NAME_GIT_TAKES_BRANCH(), {"pattern": whole(BRANCH)}),
]
_PUBLIC_KEY: Final = r"(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: [ -~]*)?"
PublicKey = Annotated[str, matching(_PUBLIC_KEY, ApiText.MUST_ONE_LINE_SSH_PUBLIC(), 8192)]
Labels = Mapping[LabelKey, LabelValue]
Annotations = Mapping[LabelKey, str]
IntOrPercent = Annotated[int | str, Form(read_int_or_percent, INT_OR_PERCENT_SCHEMA)]
"""An int, or a percentage such as "25%"."""


def above_zero(sentence: str) -> Check:
    """A check of an IntOrPercent that says `sentence` where it is nothing."""
    return Check(lambda amount: sentence if is_zero(amount) else None, ABOVE_ZERO_SCHEMA)


_INDEX_SCHEMA: Final = {
    "anyOf": [
        {"type": "string", "pattern": f"^{_SNAPSHOT_NUMBER.pattern}$"},
        {"type": "integer", "minimum": 0, "maximum": 10**18 - 1},
    ]
}
SnapshotIndex = Annotated[str | None, Form(read_snapshot_index, _INDEX_SCHEMA)]
"""The number of a resource snapshot."""
DURATION: Final = Form(read_seconds, DURATION_SCHEMA, seconds_text)
Seconds = Annotated[float, DURATION]
"""A Go duration in the file, seconds in memory."""
Time = Annotated[datetime, Form(read_time, TIME_SCHEMA, time_text)]
IndexText = Annotated[int, Form(read_index, {"type": "string", "pattern": "^[0-9]+$"}, str)]
BytesText = Annotated[str, Form(read_bytes_text, {"type": "string"}, lambda text: b64encode(text.encode()).decode())]


@dataclass(frozen=True, slots=True, order=True)
class NamespacedName:
    """namespace ("" = cluster-scoped) and name."""

    namespace: Annotated[NamespaceName, Default("")]
    name: ObjectName

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


Key = Annotated[NamespacedName, Inline(("metadata",))]
"""What names an object that may have a namespace."""
