"""The packages' tables of sentences, as tests use them.

`python -m tests.texts` writes sentences.txt of each package, and the files of expectations with sentences of many.

A test names a sentence by its code, in Python by calling it (`RolloutText.ADD_NEW_RUN_GO()`), in a file of expectations
as `[[rollout.CODE|value|value]]`, with the values in the order in which the sentence has them; without its values, a
code stands for the longest part of the sentence between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final
from unittest.mock import patch

from gitfleet.formats.text_table import TextTable

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = [
    str(path.parent.relative_to(ROOT / "gitfleet")).replace("/", ".")
    for path in sorted((ROOT / "gitfleet").rglob("texts.py"))
]
_FIELD: Final = re.compile(r"\{([a-z_][a-z0-9_]*)(?:![rsa])?(?::[^{} ]*)?\}")
_MARK: Final = re.compile(r"\[\[([a-z_.]+)\.([A-Z0-9_]+)((?:\|[^\[\]|]*)*)\]\]")


def table(package: str) -> type[TextTable]:
    """The sentences of a package such as `adapters.kube`."""
    module = import_module(f"gitfleet.{package}.texts")
    found: type[TextTable] = next(
        one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__
    )
    return found


def fields(code: TextTable) -> list[str]:
    """The names of the values in a sentence, in their order."""
    return list(dict.fromkeys(_FIELD.findall(code.value.replace("{{", "").replace("}}", ""))))


def said(text: str) -> str:
    """A text of expectations with the sentences in place of their codes, the innermost first."""
    while (expanded := _MARK.sub(_sentence, text)) != text:
        text = expanded
    return text


@contextmanager
def in_codes() -> Iterator[None]:
    """Have the code of each sentence in its place, as a file of expectations has it, in modules imported here too."""
    with patch.object(TextTable, "__call__", _mark):
        yield


def _mark(code: TextTable, **values: object) -> str:
    package = type(code).__module__.removeprefix("gitfleet.").removesuffix(".texts")
    places = [f"{values[name]}" for name in fields(code)] or ["{}"] * code.value.count("{}")
    return f"[[{'|'.join([f'{package}.{code.name}', *places])}]]"


def part(code: TextTable) -> str:
    """The longest part of a sentence between its values, for tests that do not know these."""
    text: str = code.value
    return max(re.split(r"\{[^{}]*\}", text), key=len) if fields(code) or "{}" in text else text


def rendered(package: str) -> str:
    """Each code of a package with its sentence, `<name>` in place of each value."""
    return "".join(f"{code.name}: {_sample(code)}\n" for code in table(package))


def _sample(code: TextTable) -> str:
    """A sentence with the names of its values, however these are formatted."""
    samples = {name: f"<{name}>" for name in fields(code)}
    return _FIELD.sub(r"{\1}", code.value).format_map(samples) if samples else code.value


def golden(package: str) -> Path:
    """Where the sentences of a package are asserted."""
    return ROOT / "tests" / package.replace(".", "/") / "sentences.txt"


def _sentence(match: re.Match[str]) -> str:
    code, values = table(match[1])[match[2]], match[3].split("|")[1:]
    if not values and fields(code):
        return part(code)
    if "{}" in code.value:
        return code().format(*values)
    return code(**dict(zip(fields(code), values, strict=True)))


if __name__ == "__main__":
    with in_codes():  # before anything else imports the packages, whose modules may keep sentences
        import_module("tests.reconcile.life").write()
    for each in PACKAGES:
        golden(each).parent.mkdir(parents=True, exist_ok=True)
        golden(each).write_text(rendered(each), encoding="utf-8")
