"""Every sentence of gitfleet.adapters.notify, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class NotifyText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    CANNOT_USED = "{where} cannot be used: {why}"
    CERTIFICATE_NOT_ACCEPTED = "{host}: its certificate was not accepted"
    FILE_DESTINATION = "the file {file} of destination {access}"
    GOES_PASSWORD_GIVE_BOTH_NONE = "goes with password; give both or none"
    LINK_LOCAL_ADDRESS = "is a link-local or metadata address, which is never called; name another one"
    MUST_ADDRESS_FLEET_EXAMPLE_COM = "must be an address such as fleet@example.com; correct it"
    MUST_BEGIN_HTTPS = "must begin with https://; allowHttp: true lets it be sent in the clear"
    MUST_CERTIFICATES_PEM = "must be certificates in PEM; correct it"
    MUST_HOLD_ONE_MAPPING = "it must hold one mapping"
    MUST_HTTPS_URL_HOST = "must be an https URL of a host, without a user; correct it"
    MUST_LEAST_CHARACTERS = "must have at least {shortest_secret} characters; openssl rand -hex 32 makes a good one"
    MUST_STARTTLS_IMPLICIT_WHERE_PASSWORD = "must be starttls or implicit where a password is sent"
    NOT_ANSWER = "{host} does not answer: {error}"
    NO_TLS_NO_LOGIN = "{host} has no TLS or no login, which its file asks for"
    REDIRECTS_ANOTHER_ADDRESS = "{host} redirects to another address, which is not followed: name that one"
    REFUSES_IT_WITH = "{host} refuses it with {code}"
