"""Instant queries to a Prometheus, or to what has its HTTP API (Thanos, Mimir, VictoriaMetrics).

Source: Prometheus' page "HTTP API", "Instant queries" and "Expression query result formats".
"""

from __future__ import annotations

import math
import re
from typing import Any, Final
from urllib.parse import urlencode

from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import NotJson, parse_json
from gitfleet.formats.json_values import JsonObject, section
from gitfleet.model.calls import MetricQuery
from gitfleet.ports.metric_providers import (
    MeasurementState,
    MetricProvider,
    MetricProviderAccess,
    OutboundReply,
    OutboundRequest,
)

MOST_READ: Final = 1 << 20
MOST_VALUES: Final = 1000
_LONGEST_URL: Final = 2000
"""A longer query goes into the body of a POST. A shorter one is a GET: what lets only readers through takes that."""
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|Inf|NaN)")
_FORM: Final = "application/x-www-form-urlencoded"


class Prometheus(MetricProvider):
    """See ports.metric_providers.MetricProvider. A measurement is one request: it is over at once."""

    def __init__(self, access: MetricProviderAccess) -> None:
        self._http = access.http

    def start(self, query: MetricQuery) -> MeasurementState:
        """The values of a scalar or of an instant vector at the query's moment, in the order of the answer."""
        reply = self._http.request(request_of(query))
        if 300 <= reply.status < 400:
            return _failed(OutboundText.REDIRECTS_ANOTHER_ADDRESS(host=reply.host))
        if reply.cut:
            return _failed(OutboundText.ANSWERS_MORE_MIB(host=reply.host, most_read=MOST_READ >> 20))
        document = _object(reply.content)
        if document.get("status") == "error":
            reason = f"{document.get('errorType', 'error')}: {document.get('error', '')}"
            return _failed(self._http.without_secrets(f"{reply.host} answers {reply.status}: {reason}"))
        if reply.status in (401, 403):
            return _failed(OutboundText.REFUSES_METRIC_TOKEN_GIVES_TOKEN(host=reply.host, status=reply.status))
        if reply.status != 200 or document.get("status") != "success":
            return _failed(OutboundText.ANSWERS_NOTHING_PROMETHEUS_ANSWERS(host=reply.host, status=reply.status))
        return self._measured(reply, document)

    def _measured(self, reply: OutboundReply, document: JsonObject) -> MeasurementState:
        try:
            values = values_in(document.get("data"))
        except BadInput as error:
            return _failed(f"{reply.host}: {error}")
        if len(values) > MOST_VALUES:
            return _failed(
                OutboundText.GIVES_VALUES_LET_QUERY_AGGREGATE(
                    host=reply.host, count=len(values), most_values=MOST_VALUES
                )
            )
        numbers = tuple(filter(math.isfinite, values))
        if not numbers:
            return MeasurementState(outcome=MetricOutcome.NO_DATA, message=OutboundText.NO_DATA_QUERY(host=reply.host))
        lost = len(values) - len(numbers)
        notes = [OutboundText.VALUES_NAN_INF(lost=lost, count=len(values))] if lost else []
        warnings = document.get("warnings")
        notes += [str(note) for note in warnings[:1]] if isinstance(warnings, list) else []
        message = self._http.without_secrets(f"{reply.host}: {'; '.join(notes)}") if notes else ""
        return MeasurementState(outcome=MetricOutcome.MEASURED, values=numbers, message=message)


def request_of(query: MetricQuery) -> OutboundRequest:
    """The request for a query; what its address has behind a `?` is kept."""
    base, _, own_parameters = query.address.partition("?")
    if not base:
        raise BadInput(OutboundText.QUERY_NO_ADDRESS())
    # A little less than we wait: that the query takes too long is then said by the server, in its words.
    moment, seconds = f"{query.at.timestamp():.3f}", f"{query.timeout_seconds * 0.9:g}"
    encoded = urlencode({"query": query.query, "time": moment, "timeout": seconds})
    url, parameters = f"{base.rstrip('/')}/api/v1/query", "&".join(filter(None, (own_parameters, encoded)))
    if len(url) + len(parameters) < _LONGEST_URL:
        return OutboundRequest(url=f"{url}?{parameters}", seconds=query.timeout_seconds, most_bytes=MOST_READ)
    return OutboundRequest(
        method="POST",
        url=f"{url}?{own_parameters}" if own_parameters else url,
        content=encoded.encode(),
        content_type=_FORM,
        seconds=query.timeout_seconds,
        most_bytes=MOST_READ,
    )


def values_in(data: Any) -> tuple[float, ...]:
    """The values of the data of an answer, NaN and infinities among them; BadInput for what has none for a sample."""
    kind = section(data).get("resultType")
    if kind not in ("scalar", "vector"):
        raise BadInput(OutboundText.QUERY_GIVES_MUST_GIVE_SCALAR(part=f"a {kind}" if kind else "nothing"))
    result = data.get("result")
    try:
        if kind == "scalar":
            return (_number(result[1]),)
        if any("value" not in sample for sample in result):
            raise BadInput(OutboundText.QUERY_GIVES_NATIVE_HISTOGRAMS())
        return tuple(_number(sample["value"][1]) for sample in result)
    except (TypeError, ValueError, LookupError):
        raise BadInput(OutboundText.ANSWER_CANNOT_READ(kind=kind)) from None


def _number(text: Any) -> float:
    """A value as Prometheus writes it, which is a text; float() would take more: spaces, `_`, booleans."""
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        raise ValueError
    return float(text)


def _object(content: bytes) -> JsonObject:
    try:
        return section(parse_json(content))
    except NotJson:
        return {}


def _failed(message: str) -> MeasurementState:
    return MeasurementState(outcome=MetricOutcome.FAILED, message=message)
