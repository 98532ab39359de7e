"""Rules of .gitfleetignore are gitignore's, whatever their wildcards, and no path takes for ever to be compared."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from gitfleet.desired.reading import ignore_rules
from gitfleet.desired.reading.ignore_rules import read_ignore
from gitfleet.desired.texts import DesiredText
from tests.growth import grows_with_its_input

SEGMENTS = (
    "a",
    "b",
    "*",
    "**",
    "a*",
    "*a",
    "*a*",
    "?",
    "a**b",
    "[ab]",
    "*a*b",
    "[!a]",
    "*a*b*",
    "??*",
    "\\*",
    "(a|b)+",
)


def as_git(lines: list[str]) -> GitIgnoreSpec:
    """The library's own rules, but for the bracket that excludes: to git, it matches no slash."""
    found = GitIgnoreSpec.from_lines(lines).patterns
    made = [(one.regex.pattern.replace("[^a]", "[^a/]"), one.include) for one in found if one.regex is not None]
    return GitIgnoreSpec([GitIgnoreSpecPattern(re.compile(regex), include) for regex, include in made])


@pytest.mark.parametrize("seed", range(4))
def test_rules_decide_as_they_do_for_the_library(seed: int) -> None:
    choose = random.Random(seed)

    def several(most: int, of: tuple[str, ...]) -> list[str]:
        return [choose.choice(of) for _ in range(choose.randint(1, most))]

    for _ in range(300):
        lines = [
            choose.choice(("", "", "!")) + choose.choice(("", "/")) + "/".join(several(5, SEGMENTS)) + end
            for end in several(3, ("", "", "/"))
        ]
        rules = read_ignore("\n".join(lines).encode())
        plain = as_git(lines)
        assert rules.faults == ()
        for _ in range(20):
            path = "/".join("".join(several(4, ("a", "a", "b"))) for _ in range(choose.randint(1, 7)))
            assert rules.hide(path) == plain.match_file(path), (lines, path)


@pytest.mark.parametrize(
    "rule, again, end",
    [
        ("a/**/a/**/a/**/a/**/b", "a/", "x"),
        ("*a*a*a*ab", "a", ""),
        ("*a*a*a*a*a*a*a*a*a*a*a*b", "a", ""),
        ("/" + "*a" * 200 + "b", "a", "/x"),
        ("*?*?*?*b", "a", ""),
        ("**/" * 100 + "b", "a/", "x"),
        ("*[ab]*[ab]*[ab]*b/c", "a", "/x"),
        ("a/**/b/**/", "a/", "x"),
    ],
)
def test_comparing_a_path_takes_as_long_as_it_is(rule: str, again: str, end: str) -> None:
    rules = read_ignore(rule.encode())
    assert rules.faults == ()

    def run(size: int) -> Callable[[], object]:
        path = again * size + end
        return lambda: rules.hide(path)

    assert grows_with_its_input(run)


@pytest.mark.parametrize(
    ("rule", "hidden", "read"),
    [
        ("a[!b]c", "adc", "a/c"),
        ("a[^b]c", "a]c", "a/c"),
        ("/x[+-9]y", "x5y", "x/y"),
        ("*[!a]*[!a]b", "xxxb", "x/b"),
        ("**/a[!b]c/**", "x/a-c/y", "x/a/c/y"),
    ],
)
def test_no_bracket_matches_a_slash(rule: str, hidden: str, read: str) -> None:
    """As `git check-ignore` answers."""
    rules = read_ignore(rule.encode())
    assert (rules.hide(hidden), rules.hide(read)) == (True, False)


ODD = (
    "***", "[]a]", "[!]a]", "[^a]*", "[*]", "[a-]", "[\\]]", "[a\\b]", "a.b", "*.yaml", "**a", "a**", "\\?", "\\[a",
    "{a}", "^a$", "a+", "a b", "\ta", "é*", "#a", "a#", "-&~", "a|b", "(?:a)*", "?*?", "a\\ ",
)  # fmt: skip


@pytest.mark.parametrize("odd", [*ODD, *SEGMENTS])
def test_whatever_the_library_reads_is_known(odd: str) -> None:
    for line in (odd, f"/{odd}", f"{odd}/", f"!{odd}/**", f"**/{odd}/*", f"a/**/{odd}/**/b/", f"{odd}/{odd}/*/{odd}"):
        assert read_ignore(line.encode()).faults == (), line


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        ("[^/]*", "[^/]{0,}"),
        ("[^/]*", ".*"),
        ("(?:.+/)?", "(?:.*/)?"),
        ("(?:/.+)?", "(?:/[^/]+)*"),
        ("(?:(?P<ps_d>/)|$)", "(?:(?P<ps_d>/).*|$)"),
    ],
)
def test_what_another_release_would_spell_in_another_way_is_refused(
    monkeypatch: pytest.MonkeyPatch, ours: str, other: str
) -> None:
    """It would be matched as it is, which may take for ever."""
    spelled = GitIgnoreSpecPattern.pattern_to_regex

    def respelled(pattern: str) -> tuple[str | None, bool | None]:
        regex, include = spelled(pattern)
        return None if regex is None else regex.replace(ours, other), include

    monkeypatch.setattr(GitIgnoreSpecPattern, "pattern_to_regex", staticmethod(respelled))
    rules = read_ignore(b"/plain/\n**/a*b/**/c\n")
    sentence = DesiredText.NOT_GITIGNORE_PATTERN(longest="500")
    assert rules.faults == ((2, sentence),)
    assert rules.hide("plain/a") and not rules.hide("ab/c")


def test_rules_are_made_once_however_many_paths_they_hide(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    known = ignore_rules._patterns

    def counted(line: str) -> list[GitIgnoreSpecPattern]:
        made.append(line)
        return known(line)

    monkeypatch.setattr(ignore_rules, "_patterns", counted)
    content = b"\n".join(b"/old-%d/" % number for number in range(20)) + b"\n# all\n*.bak\n!kept.bak\n"
    rules = read_ignore(content)
    assert all(rules.hide(f"old-{number % 20}/{number}.yaml") for number in range(500))
    assert [rules.hide(path) for path in ("a.bak", "kept.bak", "old-3/x.bak", "a")] == [True, False, True, False]
    assert len(made) == 22
