"""Every sentence of gitfleet.rendered, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class RenderedText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    AS_COMMIT = "As of commit {commit}."
    PUT_FILES_ORDER = "Put the files in order"
