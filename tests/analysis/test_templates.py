"""Variables of metric templates: every spelling, and values that try to leave the text in which they stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitfleet.analysis.templates import LONGEST_QUERY, Unresolved, alternatives, resolved
from gitfleet.analysis.texts import AnalysisText
from gitfleet.formats.texts import FormatsText

_ESCAPE = re.compile(r'\\(?:x([0-9a-f]{2})|(\\))|([^\\"\'\n])', re.DOTALL)


def _unquoted(text: str) -> str:
    """The value of a PromQL text without its quotes; it has no quote and no line break, and no other escape."""
    found = [*_ESCAPE.finditer(text)]
    assert "".join(one[0] for one in found) == text
    return "".join(chr(int(one[1], 16)) if one[1] else one[2] or one[3] for one in found)


@pytest.mark.parametrize(
    ("template", "query"),
    [
        ('up{ns="{{ namespace }}"}', 'up{ns="shop"}'),
        ('up{ns="{{namespace}}"}', 'up{ns="shop"}'),
        ('up{ns="{{ .namespace }}"}', 'up{ns="shop"}'),
        ("up{ns='{{ args.namespace }}'}", "up{ns='shop'}"),
        ("up{ns=`{{ namespace }}`}", "up{ns=`shop`}"),
        ("rate(x[{{ interval }}])", "rate(x[60s])"),
        ('up{a="\\"{{ namespace }}"}', 'up{a="\\"shop"}'),
        ('up{a="\\\\{{ namespace }}"}', 'up{a="\\\\shop"}'),
        ("up # it's {{ namespace }}\n+ x[{{ interval }}]", "up # it's shop\n+ x[60s]"),
        ("up{a=`\\`} + {{ namespace }}", "up{a=`\\`} + shop"),
    ],
)
def test_a_variable_is_replaced_however_it_is_written(template: str, query: str) -> None:
    assert resolved(template, {"namespace": "shop", "interval": "60s"}) == query


def no_variable(name: str) -> str:
    return AnalysisText.QUERY_VARIABLE_NOTHING_GIVES(name=name, known=AnalysisText.USE_ONE_GIVE_ARGS(variables="x"))


UNQUOTED = AnalysisText.VALUE_STANDS_OUTSIDE_QUOTES(name="x", signs=AnalysisText.MORE_LETTERS_DIGITS())
ESCAPED = f"its query {FormatsText.BACKSLASH_BEFORE_WOULD_CHANGE_STANDS()}"


@pytest.mark.parametrize(
    ("template", "value", "why"),
    [
        ("up{{ x }}", '{a="b"}', UNQUOTED),
        ("up[{{ x }}]", "1m] or vector(0)", UNQUOTED),
        ("up{a=`{{ x }}`}", "`} or vector(0)", AnalysisText.VALUE_BACKTICK_STANDS_BETWEEN_BACKTICKS(name="x")),
        ("up{{ y }}", "1", no_variable("y")),
        ("up{{ if }} {{", "1", no_variable("if")),
        ("up{{", "1", AnalysisText.QUERY_WITHOUT_NAME_VARIABLE()),
        ("up{{ x | quote }}", "1", AnalysisText.QUERY_WITHOUT_NAME_VARIABLE()),
        ('up{a="\\{{ x }}"}', "1", ESCAPED),
        ("up{a='\\\\\\{{ x }}'}", "1", ESCAPED),
        ("up{a=`\\{{ x }}`}", "1", ESCAPED),
        ('up{a="{{ x }}"}', "x" * LONGEST_QUERY, AnalysisText.QUERY_MORE_CHARACTERS(longest_query=20000)),
    ],
)
def test_what_cannot_be_replaced_is_said(template: str, value: str, why: str) -> None:
    with pytest.raises(Unresolved, match=re.escape(why) + "$"):
        resolved(template, {"x": value})


@given(value=st.text(max_size=40), quote=st.sampled_from("\"'"))
@example(value='"} or vector(0) or up{a="', quote='"')
@example(value="\\", quote="'")
@example(value="\\'", quote="'")
def test_no_value_leaves_its_quotes(value: str, quote: str) -> None:
    query = resolved(f"up{{a={quote}{{{{ x }}}}{quote}}}", {"x": value})
    head, tail = f"up{{a={quote}", f"{quote}}}"
    assert query.startswith(head) and query.endswith(tail)
    assert _unquoted(query[len(head) : -len(tail)]) == value


@given(names=st.lists(st.text(alphabet="ab.-|()[]{}^$+*?\\", min_size=1, max_size=8), min_size=1, max_size=4))
def test_names_as_a_regular_expression_match_themselves_alone(names: list[str]) -> None:
    pattern = re.compile(alternatives(names))
    assert all(pattern.fullmatch(name) for name in names)
    assert not any(pattern.fullmatch(f"{name}x") for name in names)
