"""The base class of the packages' tables of sentences."""

from __future__ import annotations

from enum import Enum


class TextTable(Enum):
    """The sentences of a package. A member's name is the code, its value the sentence with `{name}` for each value.

    Code and tests compare and name codes; only tests/<package>/sentences.txt repeats the sentences.
    """

    def __call__(self, **values: object) -> str:
        """The sentence with its values; one without values is as it is written, braces included."""
        text: str = self.value
        return text.format_map(values) if values else text
