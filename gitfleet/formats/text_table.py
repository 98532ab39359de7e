"""The base classes of the packages' tables of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from string import Formatter


class Sentence(str):
    """A sentence that knows its code, and its cause: the code and the values that the cure needs."""

    __slots__ = ("cause", "code")
    code: str
    cause: tuple[str, ...]


class TextTable(Enum):
    """The sentences of a package. A member's name is the code, its value the sentence with `{name}` for each value.

    Code and tests compare and name codes; only tests/<package>/sentences.txt repeats the sentences.
    """

    def __call__(self, **values: object) -> str:
        """The sentence with its values; one without values is as it is written, braces included."""
        text: str = self.value
        return text.format_map(values) if values else text

    def coded(self, **values: object) -> Sentence:
        """The sentence with its values, its code and its cause. The cure is what follows the semicolon; all of the
        sentence, where it has none."""
        sentence = Sentence(TextTable.__call__(self, **values))
        sentence.code, sentence.cause = self.name, (self.name, *_needed(self, values))
        return sentence


class FaultTable(TextTable):
    """Sentences about what people wrote, all of them coded."""

    def __call__(self, **values: object) -> Sentence:
        """The sentence with its values, its code and its cause."""
        return self.coded(**values)


def _needed(text: TextTable, values: Mapping[str, object]) -> Iterator[str]:
    """The values that the cure needs; a sentence within the sentence counts with its own cause."""
    if not values:
        return  # without values, braces are text
    cure = text.value.partition("; ")[2] or text.value
    names = {name for _, name, _, _ in Formatter().parse(cure)}
    for name, value in values.items():
        if isinstance(value, Sentence):
            yield from value.cause
        elif name in names:
            yield str(value)
