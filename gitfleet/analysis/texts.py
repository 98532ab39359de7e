"""Every sentence of gitfleet.analysis, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class AnalysisText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ABOVE_LARGEST_ALLOWED = "{named}above the largest allowed {number_text}"
    AND_SO_IS_FAILURECONDITION = "{why}, and so is failureCondition {source}"
    BELOW_SMALLEST_ALLOWED = "{named}below the smallest allowed {number_text}"
    CONDITION_CANNOT_EVALUATED = "a condition cannot be evaluated: {error}"
    COULD_NOT_MEASURED = "{where} could not be measured at {at}{why}"
    FAILURECONDITION_TRUE = "failureCondition {source} is true"
    HAS_NOT_BEEN = "has not been"
    MORE_LETTERS_DIGITS = "more than letters, digits, _, . and :"
    NO_DATA = "{where} had no data at {at}{why}"
    NO_METRICTEMPLATE_ADD = "there is no MetricTemplate {key}; add it"
    PROVIDER_SAYS_NOTHING_WHY = "the provider says nothing of why"
    QUERY_MORE_CHARACTERS = "the query has more than {longest_query} characters; use variables that are shorter"
    QUERY_VARIABLE_NOTHING_GIVES = "its query has the variable {name}, which nothing gives; {known}"
    QUERY_WITHOUT_NAME_VARIABLE = "its query has {{ without the name of a variable and }}; correct it"
    SUCCESSCONDITION_FALSE = "successCondition {source} is false"
    USE_ONE_GIVE_ARGS = "use one of {variables}, or give it in args"
    VALUES_MOST_JUDGED = "it has {count} values, and at most {most_values} are judged; aggregate them in the query"
    VALUE_BACKTICK_STANDS_BETWEEN_BACKTICKS = (
        "the value of {name} has a backtick and stands between backticks; use double quotes"
    )
    VALUE_STANDS_OUTSIDE_QUOTES = "the value of {name} stands outside of quotes and has {signs}; put it in quotes"
    WAS_MEASURED_AT = "{where} was measured at {at}{why}"
