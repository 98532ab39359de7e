"""Expressions of the Common Expression Language (CEL) over a Kubernetes object or a measurement, with bounded work.

They stand in a repository that is not trusted. The library bounds how deep an expression is (32) and how many entries
of lists and maps an evaluation visits (10,000), but not what is done for each. So every value must be a part of the
variables or a constant (no `+`, no `map`, no lists but of constants), regular expressions are left out, and what is
compared is bounded by the size of the variables (decision record 0022).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from gitfleet.formats.canonical_json import json_bytes
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.texts import FormatsText

_LONGEST: Final = 2000
SCHEMA: Final = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
"""What the JSON Schema says of an expression."""
_WHOLE: Final = "self"
_PARTS: Final = ("apiVersion", "kind", "metadata", "spec", "status", "data")
_LOOPS: Final = frozenset({"all", "exists", "exists_one", "filter"})
_CALLS: Final = _LOOPS | {
    "has", "size", "contains", "startsWith", "endsWith",
    "bool", "double", "duration", "int", "string", "timestamp", "uint",
}  # fmt: skip
_DEEPEST_LOOP: Final = 2
_MOST_VISITS: Final = 10_000
"""The library ends an evaluation that visits more."""
_LONGEST_FILTERED: Final = 1000
"""The library filters in quadratic time."""
_MOST_WORK: Final = 50_000_000
"""Comparisons and calls, times the entries that they are made for, times the characters that each may meet: at most
a second."""
_TOKEN: Final = re.compile(
    r"""\s+ | //[^\n]*
    | (?P<text>'(?:\\.|[^'\\\r\n])*' | "(?:\\.|[^"\\\r\n])*")
    | (?P<number>[0-9]\w*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>&& | \|\| | [=!<>]= | [-!<>?:.,()*/%\[\]])""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What expressions are about: the `variables` that they may have, how one and several of them are called in
    messages, and what to do about a variable of another name."""

    called: str
    several: str
    variables: tuple[str, ...]
    otherwise: str

    @property
    def refused(self) -> str:
        """How every sentence begins that refuses one."""
        return FormatsText.NO_CEL_EXPRESSION(called=self.called)


OBJECT: Final = Subject(
    "health check",
    "health checks",
    (*_PARTS, _WHOLE),
    FormatsText.WRITE_NAME_NOT(whole=_WHOLE, parts=", ".join(_PARTS)),
)
"""A Kubernetes object, by its parts, or whole as `self`."""
MEASUREMENT: Final = Subject(
    "metric", FormatsText.CONDITIONS_METRICS(), ("result", "results"), FormatsText.USE_RESULT_FIRST_VALUE()
)
"""What a metric provider measured: `result` is the first value, `results` are all."""


class CannotEvaluate(Exception):
    """An expression has no answer for its variables; half a sentence says why, and repeats no value of them."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that is true or false of its subject; made by `read_expression` alone."""

    source: str
    subject: Subject = field(repr=False)
    _names: frozenset[str] = field(compare=False, repr=False)
    _calls: Sequence[str] = field(compare=False, repr=False)
    _depth: int = field(compare=False, repr=False)
    _program: Any = field(compare=False, repr=False)

    def is_true(self, body: Mapping[str, Any]) -> bool:
        """Whether it is true of an object; CannotEvaluate when the object is not as it expects."""
        metadata = body.get("metadata")
        if isinstance(metadata, Mapping):
            body = {**body, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}
        return self.is_true_with({**body, _WHOLE: body})

    def is_true_with(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true where the variables of its subject have these values; CannotEvaluate when they are not as
        it expects."""
        used = (name for name in self.subject.variables if name in self._names)
        seen: dict[str, Any] = {name: _plain(values[name]) for name in used if name in values}
        self._check_work(seen)
        try:
            result = self._program.eval(data=seen)
            kind, value = result.type().name(), result.plain_value()
        except (RuntimeError, TypeError, ValueError, MemoryError) as error:
            kind, value = "ERROR", error
        if kind == "BOOL":
            return bool(value)
        raise CannotEvaluate(self._why(str(value)) if kind == "ERROR" else FormatsText.GIVES_NEITHER_TRUE_NOR_FALSE())

    def _check_work(self, seen: Mapping[str, Any]) -> None:
        try:
            size = len(self.source) + len(json_bytes(seen))
        except TypeError:
            raise CannotEvaluate(FormatsText.NESTED_TOO_DEEPLY()) from None
        # An entry has two characters at least: most objects need no counting.
        if not self._fits(size, size // 2) and not self._fits(size, max(_longest(seen), self.source.count(",") + 1)):
            raise CannotEvaluate(FormatsText.COMPARES_FILTERS_TOO_MUCH_LARGE())

    def _fits(self, size: int, longest: int) -> bool:
        visits = min(_MOST_VISITS, longest**self._depth)
        filters = "filter" in self._calls and longest > _LONGEST_FILTERED
        return len(self._calls) * visits * size <= _MOST_WORK and not filters

    def _why(self, message: str) -> str:
        if missing := re.search(r'(?:Key not found in map : |No value with name )"(.*?)"', message):
            is_written = missing[1] in self._names
            return FormatsText.NO_FIELD(missing=missing[1]) if is_written else FormatsText.FIELD_LOOKS_UP_NOT()
        if "No matching overload" in message:
            return FormatsText.FIELD_ANOTHER_TYPE_EXPECTS()
        if "budget exceeded" in message:
            return FormatsText.VISITS_MORE_ENTRIES_LISTS(most_visits=_MOST_VISITS)
        plain = message.partition(": ")[2].splitlines()[:1]
        return plain[0] if plain and not set("'\"") & set(plain[0]) else FormatsText.FIELD_VALUE_CANNOT_USE()


def read_expression(source: object, subject: Subject = OBJECT) -> Expression:
    """The expression of a text; ValueError with a sentence that says where it is wrong and what to do."""
    if not isinstance(source, str) or not 0 < len(source) <= _LONGEST:
        raise ValueError(FormatsText.MUST_CEL_EXPRESSION_CHARACTERS(longest=_LONGEST))
    text = _Text(source, subject)
    tokens = list(text.tokens())
    text.check_values(tokens)
    calls = [called.text for called, opened in pairwise(tokens) if called.kind == "name" and opened.text == "("]
    return Expression(
        source,
        subject,
        _names=frozenset(token.text.strip("'\"") for token in tokens if token.kind in ("name", "text")),
        _calls=(*calls, *(token.text for token in tokens if token.text in ("==", "!=", "in"))),
        _depth=text.depth(tokens),
        _program=text.compiled(),
    )


def read_metric_condition(source: object) -> Expression:
    """The expression of a text over a MEASUREMENT; ValueError as of `read_expression`."""
    return read_expression(source, MEASUREMENT)


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an expression, before it is compiled."""

    source: str
    subject: Subject

    def tokens(self) -> Iterator[_Token]:
        """The tokens that expressions may have, as CEL divides the text."""
        start, before = 0, _Token("", "", -1, -1)
        while start < len(self.source):
            match = _TOKEN.match(self.source, start)
            if match is None:
                raise self._wrong(start, FormatsText.NO_TAKES_SIGN_NOR(called=self.subject.called))
            if match.lastgroup == "text" and before.end == start and before.kind != "sign":
                raise self._wrong(start, FormatsText.TEXT_PREFIX_THREE_QUOTES())
            if match.lastgroup is not None:
                before = _Token(match.lastgroup, match[0], start, match.end())
                yield before
            start = match.end()

    def check_values(self, tokens: Sequence[_Token]) -> None:
        """Every value is a part of the variables or a constant, and no search is for more than a constant."""
        in_list = False
        for before, token in pairwise((_Token("sign", "", 0, 0), *tokens)):
            if in_list and not (
                token.kind in ("text", "number") or token.text in ("true", "false", "null", ",", "-", ".", "]")
            ):
                raise self._wrong(token.start, FormatsText.LIST_MORE_CONSTANTS())
            if token.text == "[":
                in_list = before.text == "in" or (before.kind == "sign" and before.text not in (")", "]"))
            elif token.text == "]":
                in_list = False
        for called, opened, first, closed in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
            if (called.text, opened.text) == ("contains", "(") and (first.kind != "text" or closed.text != ")"):
                raise self._wrong(first.start, FormatsText.CONTAINS_NEEDS_TEXT_QUOTES())

    def depth(self, tokens: Sequence[_Token]) -> int:
        """How deep loops stand in each other; every call is of a function that expressions have."""
        opened: list[bool] = []
        deepest = 0
        for before, token in pairwise((_Token("sign", "", 0, 0), *tokens)):
            if token.text == "(":
                called = before.text if before.kind == "name" and before.text != "in" else ""
                if called and called not in _CALLS:
                    suggestion = did_you_mean(called, _CALLS, FormatsText.USE_ONE(calls=", ".join(sorted(_CALLS))))
                    raise self._wrong(
                        before.start, FormatsText.NO_FUNCTION(several=self.subject.several, known=suggestion)
                    )
                opened.append(called in _LOOPS)
                deepest = max(deepest, sum(opened))
                if deepest > _DEEPEST_LOOP:
                    raise self._wrong(before.start, FormatsText.MORE_LOOPS_EACH_OTHER(deepest_loop=_DEEPEST_LOOP))
            elif token.text == ")" and opened:
                opened.pop()
        return deepest

    def compiled(self) -> Any:
        """What evaluates it; ValueError for what is no expression, or none that gives true or false."""
        try:
            program = _environment(self.subject).compile(self.source)
            type_name = program.return_type().name()
        except (RuntimeError, TypeError, ValueError) as error:
            raise ValueError(self._refusal(str(error))) from None
        if type_name not in ("BOOL", "DYN"):
            complaint = FormatsText.GIVES_NOT_TRUE_FALSE(given=type_name.lower())
            raise ValueError(f"{self.subject.refused}: {complaint}")
        return program

    def _refusal(self, message: str) -> str:
        """The library's first complaint in a sentence that does not repeat the expression."""
        refused = self.subject.refused
        error = re.search(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)", message)
        if error is None:  # as of one that is nested too deeply
            return f"{refused}: {FormatsText.CANNOT_COMPILED_CORRECT()}"
        line, column, text = error.groups()
        complaint = FormatsText.NOT_CEL_CORRECT()
        if name := re.search(r"undeclared reference to '([^'.]*)", text):
            suggestion = did_you_mean(name[1], self.subject.variables, self.subject.otherwise)
            complaint = FormatsText.NO_VARIABLE_NAME(known=suggestion)
        return FormatsText.LINE_COLUMN(refused=refused, line=line, column=column, what=complaint)

    def _wrong(self, start: int, complaint: str) -> ValueError:
        line, column = self.source.count("\n", 0, start) + 1, start - self.source.rfind("\n", 0, start)
        refused = self.subject.refused
        return ValueError(FormatsText.LINE_COLUMN(refused=refused, line=line, column=column, what=complaint))


@cache
def _environment(subject: Subject) -> Any:
    """What the variables are; the same for all expressions. The library is loaded here: most fleets do not need it."""
    from cel_expr_python import cel

    return cel.NewEnv(variables=dict.fromkeys(subject.variables, cel.Type.DYN))


def _plain(value: Any) -> Any:
    """The library takes no tuples."""
    return list(value) if isinstance(value, tuple) else value


def _longest(value: object) -> int:
    """How many entries the longest list or map in a value has."""
    longest, pending = 0, [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping | list):
            longest = max(longest, len(part))
            pending += part.values() if isinstance(part, Mapping) else part
    return longest
