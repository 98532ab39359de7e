"""Every sentence of gitfleet.state, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class StateText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    BYTES_MOST_WRITTEN = "{count} bytes, and at most {largest_written_bytes} are written"
    CANNOT_NAME_FILE_STATE_BRANCH = "{name!r} cannot name a file of the state branch, because it is no DNS name"
    CANNOT_NAME_FOLDER_STATE_BRANCH = (
        "{name!r} cannot name a folder of the state branch, because it is no namespace's name"
    )
    COUNTS_REMOVALS_FOLDER = "it counts {total} removals, and its folder has {count}"
    GITFLEET_ALONE_WRITES_BRANCH = (
        "gitfleet alone writes this branch; the next reconcile restores the newest commit that can be read as a whole"
    )
    GIVEN_TWO_BINDINGS_ONE_CLUSTER = "{key} was given two bindings to one cluster"
    GIVEN_WITHOUT_MANIFEST = "{snapshot} was given without the manifest of {ref}, which has no blob"
    HELD_BY_RELEASE_2 = "release 2 of gitfleet held it"
    ITEMS_MUST_LIST_MAPPINGS_METADATA = "`items` must be a list of mappings with metadata"
    IT_IS_GONE = "it is gone"
    IT_BELONGS_IN = "its content belongs in {expected}"
    IT_IS_LARGER = "it is larger than {limit} MiB"
    MUST_HOLD_BINDINGS = "it must hold the bindings of one placement"
    MUST_HOLD_ENTRIES_HOLDS = "it must hold {head} entries and holds {count}"
    MUST_HOLD_MAPPING = "it must hold a mapping"
    MUST_HOLD_ONE_DOCUMENT_HOLDS = "it must hold one document and holds {count}"
    MUST_HOLD_ONE_INVENTORY = "it must hold one inventory, whose `cluster` is text"
    MUST_HOLD_REMOVALS_ONE_HOLD = "it must hold the removals of one hold, whose name is in `hold`"
    NO_FILE_STATE_READ_FROM = "{path} is no file that the state is read from"
    STATE_BRANCH_FILE_CANNOT_USED = "the state branch's file {path} cannot be used: {reason}"
    STATE_BRANCH_FILE_WOULD = "the state branch's file {path} would have {size}"
    STATUS_MUST_MAPPING = "`status` must be a mapping"
    USE_LOWER_CASE_LETTERS = "use lower-case letters, digits, '-' and '.'"
    USE_LOWER_CASE_LETTERS_DIGITS = "use lower-case letters, digits and '-'"
