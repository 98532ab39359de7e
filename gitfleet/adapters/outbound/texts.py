"""Every sentence of gitfleet.adapters.outbound, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class OutboundText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ANSWERS_MORE_MIB = "{host} answers with more than {most_read} MiB: let the query aggregate"
    ANSWERS_NOTHING_PROMETHEUS_ANSWERS = "{host} answers {status} and nothing that Prometheus answers"
    ANSWER_CANNOT_READ = "the {kind} of its answer cannot be read"
    GIVES_VALUES_LET_QUERY_AGGREGATE = "{host} gives {count} values: let the query aggregate to {most_values} at most"
    LINK_LOCAL_ADDRESS = "{shown} is a link-local or metadata address, to which nothing is sent"
    NOT_ANSWER = "{name} does not answer: {error}"
    NO_DATA_QUERY = "{host} has no data for the query"
    NO_HOST_PROCESS_CALL = "{shown} is no host that this process may call: allow it with run {option} {shown}"
    QUERY_GIVES_MUST_GIVE_SCALAR = "the query gives {part} and must give a scalar or an instant vector"
    QUERY_GIVES_NATIVE_HISTOGRAMS = (
        "the query gives native histograms, which have no one value: use histogram_quantile or the like"
    )
    QUERY_NO_ADDRESS = "the query has no address of a Prometheus, such as https://prometheus.example.com"
    REDIRECTS_ANOTHER_ADDRESS = "{host} redirects to another address, which is not followed: name that one"
    REFUSES_METRIC_TOKEN_GIVES_TOKEN = "{host} refuses it with {status}: --metric-token gives a token for a host"
    TOKEN_SCHEME_ALONE = "{host} has a token for {token_scheme} alone: ask by it, or give the token with --metric-token {scheme}://{host}=FILE"
    URL_MUST_BEGIN = "its URL must begin with https:// or http:// and a host, without a user or a #; correct it"
    VALUES_NAN_INF = "{lost} of {count} values: NaN or Inf, which do not count"
