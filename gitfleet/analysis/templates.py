"""Queries of metric templates with their variables replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitfleet.analysis.texts import AnalysisText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.query_variables import ESCAPED, IN_BRACES, is_escaped

LONGEST_QUERY: Final = 20_000
"""Characters of a query with its variables replaced."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:]*")
_QUOTES: Final = ('"', "'", "`")
_REGEX_SIGNS: Final = re.compile(r"([\\.+*?()|\[\]{}^$])")


class Unresolved(Exception):
    """A query cannot be made of its template; half a sentence says why, and what to do."""


def resolved(template: str, variables: Mapping[str, str]) -> str:
    """The query with each variable replaced, so that no value leaves the text in quotes in which it stands: there it is
    escaped as PromQL (and Go) escape texts, and outside of quotes a value is letters, digits, `_`, `.` and `:` alone.

    Unresolved for a variable that nothing gives, for one behind a backslash, and for a value that does not fit
    where it stands.
    """
    if is_escaped(template):
        raise Unresolved(f"its query {ESCAPED}")
    query = "".join(_parts(template, variables))
    if len(query) > LONGEST_QUERY:
        raise Unresolved(AnalysisText.QUERY_MORE_CHARACTERS(longest_query=LONGEST_QUERY))
    return query


def alternatives(names: Iterable[str]) -> str:
    """A regular expression (RE2) that matches exactly these names: `a|b`."""
    return "|".join(_REGEX_SIGNS.sub(r"\\\1", name) for name in names)


def _parts(template: str, variables: Mapping[str, str]) -> Iterator[str]:
    at, quote = 0, ""
    while at < len(template):
        if template.startswith("{{", at):
            variable = IN_BRACES.match(template, at)
            if variable is None:
                raise Unresolved(AnalysisText.QUERY_WITHOUT_NAME_VARIABLE())
            yield _value(variable[1], variables, quote)
            at = variable.end()
            continue
        sign = template[at]
        length = 2 if sign == "\\" and quote in ('"', "'") else 1
        if sign == quote or (quote == "#" and sign == "\n"):
            quote = ""
        elif not quote and (sign in _QUOTES or sign == "#"):
            quote = sign
        yield template[at : at + length]
        at += length


def _value(name: str, variables: Mapping[str, str], quote: str) -> str:
    value = variables.get(name)
    if value is None:
        hint = did_you_mean(name, variables, AnalysisText.USE_ONE_GIVE_ARGS(variables=", ".join(sorted(variables))))
        raise Unresolved(AnalysisText.QUERY_VARIABLE_NOTHING_GIVES(name=name[:63], known=hint))
    if quote == "`":
        if "`" in value:
            raise Unresolved(AnalysisText.VALUE_BACKTICK_STANDS_BETWEEN_BACKTICKS(name=name))
        return value
    if quote in ('"', "'"):
        return "".join(map(_escaped, value))
    if _PLAIN.fullmatch(value) is None:
        signs = AnalysisText.MORE_LETTERS_DIGITS()
        raise Unresolved(AnalysisText.VALUE_STANDS_OUTSIDE_QUOTES(name=name, signs=signs))
    return value


def _escaped(sign: str) -> str:
    if sign == "\\":
        return r"\\"
    # PromQL takes \" in double quotes alone and \' in single ones alone, and \x22 in both.
    return f"\\x{ord(sign):02x}" if sign in _QUOTES or ord(sign) < 0x20 or ord(sign) == 0x7F else sign
