"""Which files of a commit are read at all: YAML and JSON, neither hidden nor ignored, and never through a link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from gitfleet.api.helm_releases import HELM_RELEASE_FILE
from gitfleet.api.kinds import ROLLOUTS, watched_kinds
from gitfleet.formats.yaml_reader import LineFault

IGNORE_FILE: Final = ".gitfleetignore"
"""At the top of the repo, in gitignore's syntax: what gitfleet must not read."""
PAYLOAD_FOLDER: Final = "resources"
FLEET_FILE: Final = "gitfleet.yaml"
KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Of several in one folder the first is read."""
CHART_FILE: Final = "Chart.yaml"
HELM_IGNORE_FILE: Final = ".helmignore"
"""What of a chart helm does not read."""
BUILD_FILES: Final = (*KUSTOMIZATIONS, HELM_RELEASE_FILE, CHART_FILE)
"""A folder of the payload with one of these is built, not read."""
_CHART_PARTS: Final = ("templates", "charts", "crds")
"""The folders of a chart that hold no files of ours, wherever the chart is."""

_LONGEST_PATTERN: Final = 500
_MOST_RULES: Final = 1000
"""Each costs time for every path of the commit."""
_ANY_START: Final = "^(?:.+/)?"
_ANY_FOLDERS: Final = "(?:/.+)?"
_ANY_TEXT: Final = "[^/]*"
"""How pathspec writes `**/` at the beginning, `/**` in between, and `*`."""
_KNOWN_SPELLING: Final = re.compile(
    rf"\.|(?:\^(?:{re.escape(_ANY_START[1:])})?)?"
    rf"(?:{re.escape(_ANY_FOLDERS)}|{re.escape(_ANY_TEXT)}|\[\^/\]\+|\[\^?\]?[^\]]*\]|\\.|[^\\.^$*+?{{}}\[\]|()])*+"
    r"(?:\(\?P<ps_d>/\)|\(\?:\(\?P<ps_d>/\)\|\$\))?",
    re.DOTALL,
)
"""All that pathspec makes of patterns, as of 1.1: with another repetition than these, matching could take for ever."""
SUFFIXES: Final = (".yaml", ".yml", ".json")


def is_manifest_path(path: str) -> bool:
    """Whether a path ends as a YAML or JSON file does."""
    return path.endswith(SUFFIXES)


def is_read(path: str, mode: str) -> bool:
    """Whether an entry of a tree is parsed: an ordinary YAML or JSON file, not hidden; `mode` as git prints it."""
    return mode.startswith("100") and is_manifest_path(path) and not is_hidden(path)


def is_ours(path: str) -> bool:
    """Whether a path is the fleet's own file or lies in a folder of the convention (contracts.md §1): a document there
    that names no kind is a fault, elsewhere it is not our business."""
    folder, slash, _ = path.partition("/")
    if not slash:
        return path == FLEET_FILE
    return folder in (PAYLOAD_FOLDER, ROLLOUTS) or any(kind.folder == folder for kind in watched_kinds())


def is_payload_path(path: str) -> bool:
    """Whether all that a file holds is payload, whatever its kind."""
    return path.startswith(f"{PAYLOAD_FOLDER}/")


def is_hidden(path: str) -> bool:
    """Whether the path or a folder on the way begins with a dot: `.github/`, `.pre-commit-config.yaml`."""
    return path.startswith(".") or "/." in path


def area_of(path: str) -> str:
    """What a faulty path stands for: a file that says how a folder is built stands for the folder."""
    return path.rpartition("/")[0] if is_build_file(path) else path


def is_build_file(path: str) -> bool:
    """Whether a file says how its folder is built (kustomize, Helm); never an object itself."""
    return path.rpartition("/")[2] in BUILD_FILES


def is_kustomization(path: str) -> bool:
    """Whether a file configures kustomize; never an object itself."""
    return path.rpartition("/")[2] in KUSTOMIZATIONS


def built_folders(paths: Iterable[str]) -> dict[str, str]:
    """The folders of the payload that are built, not read, with the file that says how."""
    found: dict[str, str] = {}
    for path in paths:
        if is_build_file(path) and is_payload_path(path):
            folder, _, name = path.rpartition("/")
            if folder not in found or BUILD_FILES.index(name) < BUILD_FILES.index(found[folder].rpartition("/")[2]):
                found[folder] = path
    return found


def file_of_build(folder: str, build_file: str) -> str:
    """The path at which the objects of a built folder stand: one for all three names of a kustomization."""
    return f"{folder}/{KUSTOMIZATIONS[0]}" if is_kustomization(build_file) else build_file


def read_one_by_one(paths: Iterable[str]) -> Iterator[str]:
    """Of wanted paths, those whose files are read for themselves: not those of built folders, nor parts of charts."""
    known = list(paths)
    built = built_folders(known)
    parts = {f"{path.removesuffix(CHART_FILE)}{part}" for path in known if is_chart(path) for part in _CHART_PARTS}
    passed = {*built, *parts}
    for path in known:
        is_ones_own = not (is_kustomization(path) or is_chart(path))
        if is_ones_own and not (passed and any(folder in passed for folder in folders_of(path))):
            yield path


def is_chart(path: str) -> bool:
    """Whether a file makes its folder a Helm chart; none of the folders of our own kinds is one."""
    return path.endswith(f"/{CHART_FILE}") and (is_payload_path(path) or not is_ours(path))


def wanted_paths(paths: Iterable[str], ignore: bytes = b"") -> Iterator[str]:
    """The paths, of a whole commit, whose entries `read_desired` needs; `ignore` is the ignore file's content.

    Links and submodules among them are faults there, so they are not left out here.
    """
    spec, _ = read_ignore(ignore)
    ignores_some = len(spec) > 0
    for path in paths:
        if not is_hidden(path) and not (ignores_some and spec.match_file(path)):
            yield path


def read_paths(paths: Iterable[str], ignore: bytes = b"") -> frozenset[str]:
    """Of all paths of a commit, the files that `read_desired` reads one by one: those of built folders are not among
    them."""
    return frozenset(filter(is_manifest_path, read_one_by_one(wanted_paths(paths, ignore))))


def folders_of(path: str) -> Iterator[str]:
    """Every folder that a path lies in, the innermost first; "" is the top."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def ignoring_line(content: bytes, path: str) -> int:
    """The line of the last ignore rule that decides on a path, 0 where the path is not ignored."""
    found = 0
    if not read_ignore(content)[0].match_file(path):
        return found
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if read_ignore(line.encode())[0].match_file(path):
            found = number
    return found


def read_ignore(content: bytes) -> tuple[GitIgnoreSpec, list[LineFault]]:
    """The rules of an ignore file, and a fault for each line that is none.

    The repo is not trusted: matching takes time that grows as the path does, whatever the rules are.
    """
    rules: list[str] = []
    faults: list[LineFault] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(rules) == _MOST_RULES:
            faults.append((number, f"more than {_MOST_RULES} rules are not read, those from here on; write fewer"))
            break
        if "\ufffd" in line:
            faults.append((number, "is not UTF-8 text; save the file as UTF-8"))
            continue
        if len(line) > _LONGEST_PATTERN:
            faults.append((number, f"is longer than {_LONGEST_PATTERN} characters; simplify the pattern"))
            continue
        try:
            found = _patterns([line])
        except (ValueError, re.error):
            faults.append((number, "is not a gitignore pattern; correct it or remove the line"))
            continue
        if all(_KNOWN_SPELLING.fullmatch(regex) for regex, _ in found):
            rules.append(line)
        else:
            faults.append(
                (number, "is no pattern that gitfleet matches with the installed pathspec; install 1.1 of it")
            )
    made = [(re.compile(_without_retries(regex)), include) for regex, include in _patterns(rules)]
    return GitIgnoreSpec([GitIgnoreSpecPattern(*one) for one in made], backend="simple"), faults


def _patterns(lines: Iterable[str]) -> list[tuple[str, bool | None]]:
    """The regular expressions that pathspec makes of lines, and whether what they match is ignored."""
    found = GitIgnoreSpec.from_lines(lines, backend="simple").patterns
    return [(one.regex.pattern, one.include) for one in found if one.regex is not None]


def _without_retries(regex: str) -> str:
    """The regular expression of a gitignore pattern, so that matching it tries no place twice: of what a wildcard is
    followed by, the first occurrence leaves most to the wildcards after it. The last `**` may take as much as it can,
    as pathspec looks at where it ends."""
    *parts, last = map(_segments_without_retries, regex.split(_ANY_FOLDERS))
    if not parts:
        return last
    first, *inner = parts
    if first.startswith(_ANY_START):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_ANY_START)}(?=/))"
    return "".join((first, *(f"(?>(?:/.+?)??{part}(?=/))" for part in inner), _ANY_FOLDERS, last))


def _segments_without_retries(regex: str) -> str:
    head, *parts = regex.split(_ANY_TEXT)
    last = len(parts) - 1
    for index, part in enumerate(parts):
        ends_here = index == last or "/" in part.replace("[^/]", "")
        head += f"{_ANY_TEXT}{part}" if ends_here else f"(?>{_ANY_TEXT}?{part})"
    return head
