"""Every sentence of gitfleet.formats, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import FaultTable


class FormatsText(FaultTable):
    """A code, and its sentence with the names of the values in it."""

    ALIASES_EXPAND_FAR_MORE_FILE = "its aliases expand to far more than the file holds; write it out"
    ANCHOR_CONTAINS_ALIAS_ITSELF = "an anchor contains an alias of itself; remove the alias"
    AUTHOR_CANNOT_WRITTEN_COMMIT = "The author {name!r} cannot be written to a commit."
    BACKSLASH_BEFORE_WOULD_CHANGE_STANDS = (
        "has a backslash before {{, which would change what stands there; write two, or none"
    )
    BEGINS_LINE = " {context} that begins on line {line}"
    BREAKS_OFF = "it breaks off"
    BYTES_MORE_READ = "has {count} bytes, more than the {limit} that are read; split the file"
    CANNOT_COMPILED_CORRECT = "it cannot be compiled, as it is nested too deeply or no CEL; simplify it"
    CANNOT_SET_WITHOUT_CHANGING_MORE = "`{field}` cannot be set without changing more of the file"
    COMMIT_MUST_ONE_LINE_TEXT = "The {what} {text!r} of a commit must be one line of text."
    COMPARES_FILTERS_TOO_MUCH_LARGE = "it compares or filters too much of so large an object"
    CONDITIONS_METRICS = "conditions of metrics"
    CONTAINS_NEEDS_TEXT_QUOTES = "contains() needs a text in quotes; write what it looks for"
    CONTROL_CHARACTER_STANDS_TEXT = "a control character stands in the text; remove it or write it as an escape"
    CRON_NOT_KNOW = "has a {where} that cron does not know, or that never comes; write five such as 0 18 * * 5"
    FIELD_ANOTHER_TYPE_EXPECTS = "a field has another type than it expects"
    FIELD_LOOKS_UP_NOT = "a field that it looks up is not there"
    FIELD_VALUE_CANNOT_USE = "a field has a value that it cannot use"
    GIVES_NEITHER_TRUE_NOR_FALSE = "it gives neither true nor false"
    GIVES_NOT_TRUE_FALSE = "it gives {given} and not true or false; compare it with something"
    GIVE_NAME_ADDRESS = "Give a name and an address."
    HOLDS_MORE_DOCUMENTS = "holds more than {max_documents} documents; split the file"
    INFINITY_NOT_NUMBER_CANNOT_WRITTEN = (
        "infinity and not-a-number cannot be written in JSON; quote the value if a string is meant"
    )
    KEY_EMPTY_NULL = "a key is empty or null; name it, or quote it if null is meant"
    KEY_GIVEN_TWICE_ONE_MAPPING = 'the key "{key}" is given twice in one mapping; keep one'
    LINE_COLUMN = "{refused}, at line {line}, column {column}: {what}"
    LIST_MAPPING_STANDS_KEY = "a list or mapping stands as a key; keys must be plain words"
    LIST_MORE_CONSTANTS = "a list has more than constants; compare the values one by one"
    LIST_NO_ITEMS = (
        "the List has no items; write them, `items: []` where it is meant to be empty, or remove the document"
    )
    MERGES_ONLY_MAPPINGS = "`<<` merges only mappings; give it an alias of one"
    MORE_DIGITS_CANNOT_COMPARED = "has more than {max_exponent} digits, which cannot be compared"
    MORE_LOOPS_EACH_OTHER = "it has more than {deepest_loop} loops in each other; take one out"
    MUST_CEL_EXPRESSION_CHARACTERS = "must be a CEL expression of 1 to {longest} characters, in quotes; correct it"
    MUST_DURATION_MORE_ZERO = "must be a duration of more than zero; raise it"
    MUST_DURATION_M_H30M = "must be a duration such as 30s, 5m or 1h30m; correct it"
    MUST_FIVE_FIELDS_MINUTE = "must be five fields (minute, hour, day, month, weekday) such as 0 18 * * 5; correct it"
    MUST_LEAST_RAISE = "must be at least 0; raise it"
    MUST_MOST_TEN_YEARS = "must be at most ten years; shorten it"
    MUST_NAME_TIME_ZONE_EUROPE = "must be the name of a time zone such as Europe/Berlin, or UTC; correct it"
    MUST_NUMBER_CORRECT = "must be a number such as 0.95; correct it"
    MUST_NUMBER_NOT_INFINITE = "must be a number that is not infinite; correct it"
    MUST_TIME_T12_Z = 'must be a time such as "2026-01-31T12:00:00Z"; correct it'
    MUST_TIME_ZONE = "must be a time with a zone, such as a final Z; add it"
    MUST_UNIT_WRITE_IF_SECONDS = "must have a unit; write {text}s if seconds are meant"
    MUST_WHOLE_NUMBER_PERCENTAGE = "must be a whole number or a percentage such as 25%; correct it"
    MUST_WHOLE_NUMBER_WITHOUT_QUOTES = (
        "must be a whole number without quotes, or a percentage from 0% to 100%; correct it"
    )
    NESTED_MORE_LEVELS_DEEP = "nested more than {max_depth} levels deep; flatten it"
    NESTED_TOO_DEEPLY = "it is nested too deeply, or has a number that is too large"
    NOT_BRANCH_NAME_GIT_ACCEPTS = "{branch!r} is not a branch name that git accepts."
    NOT_CEL_CORRECT = "this is not as CEL has it; correct it"
    NOT_JSON_VALUE = "{name} is not a JSON value"
    NOT_KEY_TRAILER_COMMIT = "{key!r} is not a key for a trailer of a commit."
    NOT_KUBERNETES_QUANTITY = "is not a Kubernetes quantity"
    NOT_UTF_TEXT = "is not UTF-8 text; save the file as UTF-8 or ignore it in .gitfleetignore"
    NOT_VALID_UNICODE = "The {what} {text!r} is not valid Unicode."
    NOT_WHOLE_GIT_OBJECT_ID = "{oid!r} is not a whole git object id."
    NO_CEL_EXPRESSION = "is no CEL expression for a {called}"
    NO_FIELD = "there is no field {missing}"
    NO_FUNCTION = "{several} have no such function; {known}"
    NO_HOST_HOST_PORT = "{text} is no HOST or HOST:PORT"
    NO_TAKES_SIGN_NOR = "no {called} takes this sign (nor +, {{ and regular expressions); leave it out"
    NO_TIME_ZONE_IANA_DATABASE = "is no time zone of the IANA database; {hint}"
    NO_VARIABLE_NAME = "there is no variable of this name; {known}"
    NUMBER_LARGER_BIT_FLOATING_POINT = (
        "the number is larger than 64-bit floating point can hold; quote it if a string is meant"
    )
    PATH_CANNOT_WRITTEN_GIT = "The path {path!r} cannot be written to git."
    PATH_FILE_AND_FOLDER = "The path {path!r} would be a file and, for {below!r}, a folder."
    PATH_WRITTEN_AND_LINKED = "A path is both written and linked: {path!r}."
    RESOLVE_REVISION_ID_FIRST = "Resolve the revision to an id first."
    SAYS_NOT_SHOWN = "what it says is not shown, since it repeats a value of a Secret"
    TEXT_PREFIX_THREE_QUOTES = "a text has a prefix or three quotes; write it in single quotes"
    THINGS_CANNOT_READ = "{count} things in it cannot be read; correct the first {most_faults}, which are listed"
    USE_NAME_MAIN = "Use a name such as main."
    USE_ONE = "use one of {calls}"
    USE_RESULT_FIRST_VALUE = "use result, the first value, or results, all of them"
    UTF_NOT_UTF = "is UTF-16, not UTF-8; save the file as UTF-8"
    U_ESCAPE_NAMES_HALF_SURROGATE = "a \\u escape names half of a surrogate pair; write the whole character"
    VALUE_NOT_BASE64_UTF_TEXT = "the value is not base64 of UTF-8 text, as its tag !!binary says; correct it"
    VALUE_NOT_TAG_SAYS = "the value is not what its tag !!{kind} says; remove the tag or correct the value"
    VISITS_MORE_ENTRIES_LISTS = "it visits more than {most_visits} entries of lists"
    WITHOUT_NAME_VARIABLE = "has {{ without the name of a variable and }}; correct it"
    WRITE_HAND = "write `{path}: {json}` by hand"
    WRITE_NAME_NOT = "write {whole}.NAME for what is not {parts}"
    WRITE_ONE_EUROPE_BERLIN = "write one such as Europe/Berlin, or UTC"
    YAML_CANNOT_READ = "the YAML cannot be read: {problem}{where}; check the indentation (spaces, no tabs), quotes, colons and brackets"
    YAML_CANNOT_READ_FOUND_UNDEFINED = (
        "the YAML cannot be read: found undefined alias; define the anchor before its alias, in the same document"
    )
    YAML_DIRECTIVES_OTHER_YAML_NOT = (
        "YAML directives other than `%YAML 1.1` are not read by Kubernetes; remove the line"
    )
    YOU_MEAN = "did you mean {near}?"
