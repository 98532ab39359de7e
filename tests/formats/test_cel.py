"""CEL expressions of health checks and metrics: what they say of objects and measurements, and what is refused before
it can cost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.cel import CannotEvaluate, read_expression, read_metric_condition
from gitfleet.formats.texts import FormatsText

DATABASE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Database",
    "metadata": {"name": "db", "generation": 3, "labels": {"app.kubernetes.io/name": "db"}, "managedFields": [{}]},
    "spec": {"replicas": 3, "ratio": 0.5},
    "status": {
        "observedGeneration": 3,
        "phase": "Ready",
        "replicas": 3,
        "load": 4.0,
        "nothing": None,
        "password": "hunter2",
        "since": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Stalled", "status": "False"}],
    },
    "backends": ["a", "b"],
}
NO_FIELD = FormatsText.NO_FIELD(missing="{}").format
WRONG_TYPE = FormatsText.FIELD_ANOTHER_TYPE_EXPECTS()


def answer(source: str, body: dict[str, Any] = DATABASE) -> bool | str:
    """What an expression says of an object, or why it cannot be read or evaluated."""
    try:
        return read_expression(source).is_true(body)
    except (ValueError, CannotEvaluate) as error:
        return str(error)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("status.phase == 'Ready'", True),
        ('status.phase.startsWith("Re") && status.phase.endsWith("dy") && status.phase.contains("ad")', True),
        ("status.replicas == spec.replicas && metadata.generation == status.observedGeneration", True),
        ("status.conditions.exists(e, e.type == 'Ready' && e.status == 'True')", True),
        ("status.conditions.exists(e, e.missing == 'x' || e.type == 'Ready')", True),
        ("status.conditions.filter(e, true)[status.replicas - 3].type == 'Ready'", True),
        ("status.conditions[0].type == 'Ready' // the first one\n && true", True),
        ("status.load == 4 && status.replicas == 3.0 && status.load > 3", True),
        ("spec.ratio * 2.0 == 1.0 && spec.replicas - 1 == 2 && spec.replicas % 2 == 1", True),
        ("status.nothing == null", True),
        ("!has(status.missing) || status.missing.deeper", True),
        ("has(self.status) && !has(self.other) && size(self.backends) == 2", True),
        ("'app.kubernetes.io/name' in metadata.labels && metadata.labels['app.kubernetes.io/name'] == 'db'", True),
        ("timestamp(status.since) < timestamp('2027-01-01T00:00:00Z')", True),
        ("has(metadata.managedFields)", False),
        ("status.phase", FormatsText.GIVES_NEITHER_TRUE_NOR_FALSE()),
        ("status.missing == 1", NO_FIELD("missing")),
        ("has(status.missing.deeper)", NO_FIELD("missing")),
        ("data.phase == 'Ready'", NO_FIELD("data")),
        ("metadata.labels[status.password] == 'x'", FormatsText.FIELD_LOOKS_UP_NOT()),
        ("status.phase > 3", WRONG_TYPE),
        ("status.phase && true", WRONG_TYPE),
        ("status.nothing.deeper == 1", "Applying SELECT to non-message type"),
        ("status.conditions[5].type == 'Ready'", "Index error: index=5 size=2"),
        ("spec.replicas / 0 == 1", "divide by zero"),
    ],
)
def test_what_an_expression_says_of_an_object(source: str, expected: bool | str) -> None:
    assert answer(source) == expected


@pytest.mark.parametrize(
    "body", [{}, {"status": None}, {"status": "x"}, {"status": []}, {"metadata": 3, "status": {"phase": 2**70}}]
)
def test_an_object_of_another_shape_is_no_crash(body: dict[str, Any]) -> None:
    said = {answer(source, body) for source in ("status.phase == 'x'", "self.status.phase == 'x'")}
    assert said and all(isinstance(one, str) for one in said)


def refused(column: int, what: str, line: int = 1, called: str = "health check") -> str:
    reason = FormatsText.NO_CEL_EXPRESSION(called=called)
    return FormatsText.LINE_COLUMN(refused=reason, line=line, column=column, what=what)


LONG = FormatsText.MUST_CEL_EXPRESSION_CHARACTERS(longest="2000")
SIGN = FormatsText.NO_TAKES_SIGN_NOR(called="health check")
CONSTANTS = FormatsText.LIST_MORE_CONSTANTS()
PREFIX = FormatsText.TEXT_PREFIX_THREE_QUOTES()
FUNCTIONS = FormatsText.NO_FUNCTION(
    several="health checks",
    known=FormatsText.USE_ONE(
        calls="all, bool, contains, double, duration, endsWith, exists, exists_one, filter, has, int, size, "
        "startsWith, string, timestamp, uint"
    ),
)
CHECK = FormatsText.NO_CEL_EXPRESSION(called="health check") + ": "
METRIC = FormatsText.NO_CEL_EXPRESSION(called="metric") + ": "
SEARCH = FormatsText.CONTAINS_NEEDS_TEXT_QUOTES()
LOOPS = FormatsText.MORE_LOOPS_EACH_OTHER(deepest_loop="2")
WRITE_SELF = FormatsText.WRITE_NAME_NOT(whole="self", parts="apiVersion, kind, metadata, spec, status, data")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", LONG),
        ("   ", refused(4, FormatsText.NOT_CEL_CORRECT())),
        ("status.phase = 'Ready'", refused(14, SIGN)),
        ("stats.phase == 'Ready'", refused(6, FormatsText.NO_VARIABLE_NAME(known=FormatsText.YOU_MEAN(near="status")))),
        ("backends == 1", refused(1, FormatsText.NO_VARIABLE_NAME(known=WRITE_SELF))),
        ("3", CHECK + FormatsText.GIVES_NOT_TRUE_FALSE(given="int")),
        ("status.phase == '\ud800'", CHECK + FormatsText.CANNOT_COMPILED_CORRECT()),
        # What could grow, search for long, read files, or run something.
        ("status.a + status.a == 'aa'", refused(10, SIGN)),
        ("{'a': 1}.a == 1", refused(1, SIGN)),
        ("google.protobuf.Struct{} == self", refused(23, SIGN)),
        ("status.l.map(x, x) == []", refused(10, FUNCTIONS)),
        ("status.a.matches('^(a+)+$')", refused(10, FUNCTIONS)),
        ("__import__('os').system('id') == 0", refused(1, FUNCTIONS)),
        ("[[self, self]].all(a, a == a)", refused(2, CONSTANTS)),
        ("[status.a].exists(a, a == status.a)", refused(2, CONSTANTS)),
        ("status.a in [1, 2, status.b]", refused(20, CONSTANTS)),
        ("status.a.contains(status.b)", refused(19, SEARCH)),
        ("status.l.all(a, status.l.all(b, status.l.all(c, a == b)))", refused(42, LOOPS)),
        # What would hide signs from the reading before the compiler.
        (r"status.a == r'\' || status.b == r'\'", refused(14, PREFIX)),
        ("status.a == b'x'", refused(14, PREFIX)),
        ("status.`a` == 1", refused(8, SIGN)),
        ("status.a\u00a0== 1", refused(9, SIGN)),
        # Depth.
        ("status" + ".a" * 500 + " == 1", CHECK + FormatsText.CANNOT_COMPILED_CORRECT()),
        ("[" * 500 + "]" * 500 + " == []", refused(2, CONSTANTS)),
    ],
)  # fmt: skip
def test_what_is_refused_before_it_is_evaluated(source: str, sentence: str) -> None:
    assert answer(source) == sentence


@pytest.mark.parametrize("source", [None, ["status.phase"], {"a": 1}])
def test_what_is_no_text(source: object) -> None:
    with pytest.raises(ValueError, match=re.escape(LONG)):
        read_expression(source)


TOO_LARGE = FormatsText.COMPARES_FILTERS_TOO_MUCH_LARGE()
ENTRIES = {"status": {"l": list(range(900)), "phase": "Ready"}}
LARGE = {"status": {"l": list(range(1001)), "text": "a" * 1_000_000, "map": {f"k{n}": n for n in range(20_000)}}}


@pytest.mark.parametrize(
    ("source", "body", "expected"),
    [
        ("status.l.filter(x, x >= 0) == status.l", ENTRIES, True),
        ("status.l.all(x, status.l.all(y, y >= 0))", {"status": {"l": list(range(150))}},
         FormatsText.VISITS_MORE_ENTRIES_LISTS(most_visits="10000")),
        ("status.l.all(x, status.l.exists(y, x == y))", ENTRIES, TOO_LARGE),
        (" && ".join(["status == status"] * 60), LARGE, TOO_LARGE),
        ("[" + "7, " * 600 + "7].all(x, status == status)", {"status": {"text": "a" * 60_000}}, TOO_LARGE),
        ("status.text.contains('b')", LARGE, False),
        ("size(status.l.filter(x, x > 0)) == 1000", {"status": {"l": [1] * 1001}},
         TOO_LARGE),
        ("status.phase == 'Ready'", {"status": {"phase": "Ready", "count": 2**64}},
         FormatsText.NESTED_TOO_DEEPLY()),
        ("kind == 'Database'", {"kind": "Database", **LARGE}, True),
    ],
)  # fmt: skip
def test_the_work_of_an_evaluation_has_an_end(source: str, body: dict[str, Any], expected: bool | str) -> None:
    assert answer(source, body) == expected


MEASURED: dict[str, Any] = {"result": 0.97, "results": [0.97, 0.5, 1.0]}


def verdict(source: str, values: dict[str, Any] = MEASURED) -> bool | str:
    """What a condition of a metric says of a measurement, or why it cannot be read or evaluated."""
    try:
        return read_metric_condition(source).is_true_with(values)
    except (ValueError, CannotEvaluate) as error:
        return str(error)


@pytest.mark.parametrize(
    ("source", "values", "expected"),
    [
        ("result >= 0.95", MEASURED, True),
        ("results.all(r, r > 0.4 && r <= 1.0) && size(results) == 3", MEASURED, True),
        ("result == 3", {"result": 3.0, "results": [3.0]}, True),
        ("result > 0.0 || result <= 0.0", {"result": float("nan"), "results": [float("nan")]}, False),
        ("result", MEASURED, FormatsText.GIVES_NEITHER_TRUE_NOR_FALSE()),
        ("status.phase == 'Ready'", MEASURED, refused(7,
            FormatsText.NO_VARIABLE_NAME(known=FormatsText.USE_RESULT_FIRST_VALUE()), called="metric")),
        ("result + 1.0 > 2.0", MEASURED, refused(8, FormatsText.NO_TAKES_SIGN_NOR(called="metric"), called="metric")),
        ("results.all(a, results.all(b, a == b))", {"result": 1.0, "results": [1.0] * 2000},
         FormatsText.COMPARES_FILTERS_TOO_MUCH_LARGE()),
    ],
)  # fmt: skip
def test_what_a_condition_says_of_a_measurement(source: str, values: dict[str, Any], expected: bool | str) -> None:
    assert verdict(source, values) == expected


def test_expressions_are_equal_by_their_text() -> None:
    one, other = read_expression("status.a == 1"), read_expression("status.a == 1")
    assert (one == other, one == read_expression("status.a == 2"), hash(one) == hash(other)) == (True, False, True)
    assert repr(one) == "Expression(source='status.a == 1')"


SNIPPETS = st.sampled_from([
    "status", ".phase", "self", "'a'", '"', "'", "\\", "r", "b", "(", ")", "[", "]", ".all(x, ", ".contains(", "==",
    " in ", "1", "-", "!", "&&", " ? ", " : ", ",", "//", "\n", "+", "{", "}", "`", "true", ".filter(x, x)", "1e9", "é",
])  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(SNIPPETS, max_size=25).map("".join)))
def test_any_text_is_read_or_refused_in_a_sentence(source: str) -> None:
    said = answer(source)
    assert isinstance(said, bool) or (said and "\n" not in said)


CANARY = "hunter2"
ANY_VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats()
    | st.sampled_from([CANARY, "Ready", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "phase"]), inner, max_size=3)
    ),
    max_leaves=8,
)
ASKED = (
    "status.phase == 'Ready'", "self.status.a[0].b > 3", "status.a[status.b] == 1", "status.all(x, x == status.a)",
    "int(status.phase) == 1", "timestamp(status.a) < timestamp(status.b)", "metadata.a.b.startsWith('x')",
    "size(status.filter(x, x in status.a)) - status.b > 0", "status.a ? status.b : status.phase",
)  # fmt: skip


@given(st.sampled_from(ASKED), st.dictionaries(st.sampled_from(["metadata", "status"]), ANY_VALUE, max_size=2))
def test_any_object_has_an_answer_that_repeats_no_value(source: str, body: dict[str, Any]) -> None:
    said = answer(source, body)
    assert isinstance(said, bool) or (said and CANARY not in said and "\n" not in said)
