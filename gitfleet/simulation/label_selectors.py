"""The selectors of labels that a query may have: `a=b,c in (d,e),f notin (g),h,!i` (Kubernetes documentation, "Labels
and Selectors")."""

from __future__ import annotations

import re
from typing import Final

from gitfleet.api.objects import JsonObject
from gitfleet.simulation.refusals import bad_request

_TERM: Final = re.compile(
    r"(?P<absent>!)?(?P<key>[\w./-]+)\s*(?:(?P<is>==?|!=)\s*(?P<value>[\w.-]*)|\s(?P<in>in|notin)\s*\((?P<values>[^()]*)\))?"
)
_COMMA: Final = re.compile(r",(?![^()]*\))")


def is_labelled(body: JsonObject, selector: str) -> bool:
    """Whether an object's labels are what a selector takes. Refused where it cannot be read."""
    labels = (body.get("metadata") or {}).get("labels") or {}
    return all(_holds(labels, term.strip()) for term in _COMMA.split(selector))


def _holds(labels: JsonObject, text: str) -> bool:
    term = _TERM.fullmatch(text)
    if term is None:
        raise bad_request(f"unable to parse requirement: {text}")
    has = labels.get(term["key"])
    if term["in"]:
        is_one = has is not None and has in [value.strip() for value in term["values"].split(",")]
        return is_one is (term["in"] == "in")
    if term["is"]:
        return (has == term["value"]) is (term["is"] != "!=")
    return (has is None) is bool(term["absent"])
