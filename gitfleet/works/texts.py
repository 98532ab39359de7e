"""Every sentence of gitfleet.works, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class WorksText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_NOT_APPLY = "add {name} does not apply"
    LABEL_KEY_NOT_FOUND_CLUSTER = "label key {plain} not found on cluster {cluster}"
    NOTHING_IS_THERE = "{operation} {name}: nothing is there"
    NOT_CANNOT_HOLD = "{operation} {name}: {place} is not there or cannot hold it"
    NOT_FOUND_CLUSTER = "{what} {plain} not found on cluster {cluster}"
    OVERRIDE_ADDS = "an override adds {key} to {envelope}, and its {note} {note_2}"
    OVERRIDE_SNAPSHOT_NOT = "override snapshot {reference} is not there"
    PLACED_TWICE_SEARCH_ENVELOPES_BESIDE = "{manifest} is placed twice: search for it in the envelopes and beside them"
    PROPERTY_CHANGES_ALL_TIME = "property {plain} changes all the time, and each change would be rolled out"
    RULE_WOULD_CHANGE_APIVERSION = "{on}: rule {number} would change its apiVersion, kind, name or namespace"
    SNAPSHOT_FAILED_APPLY = '{override}Snapshot "{snapshot}" failed to apply on {key} "{key_2}"{place}'
    SNAPSHOT_RULE_NO_RFC_PATCH = '{kind}Snapshot "{snapshot}": rule {number} is no RFC 6902 patch'
    VALUE_NO_JSON_ONCE_VARIABLES = "the value of {name} is no JSON once its variables are replaced"
    VARIABLE_VALUE_MISSING_CLOSING_BRACKET = "a variable in the value of {path} is missing the closing bracket `}}`"
