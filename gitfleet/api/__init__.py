"""api: one module per kind that stands in a file. Its frozen dataclasses are schema, reader, writer and defaults.

    read(cls, body) -> (value | None, breaks)    what people wrote: every error at once, each with its field
    read_state(cls, body) -> value               what gitfleet wrote itself; InvalidContent when it is not that
    write(value) -> dict                         camelCase, defaults left out; write_as(type, value) for a list of them
    json_schema(cls) -> dict                     for editors
    dotted(location) -> str                      a field as people write it

A field's type says what it takes; `Annotated` adds what `annotations` and `annotated_types` have. A method `breaks`
of a declaration gives what is wrong between its fields (`breaks_as_written` also sees what was read), and `warnings`
what is allowed but hardly meant.
"""

from gitfleet.api.annotations import Break, Location
from gitfleet.api.reading import read, read_state
from gitfleet.api.schemas import json_schema
from gitfleet.api.sentences import InvalidContent, dotted, without_nulls
from gitfleet.api.writing import write, write_as

__all__ = [
    "Break",
    "InvalidContent",
    "Location",
    "dotted",
    "json_schema",
    "read",
    "read_state",
    "without_nulls",
    "write",
    "write_as",
]
