"""Every sentence of gitfleet.adapters.forge, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ForgeText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ANSWERS_MORE_MIB = "answers with more than {most_bytes} MiB"
    ANSWERS_NO_JSON = "answers {status} with {get} that is no JSON"
    ANSWERS_OTHERWISE_API_SAYS = "answers otherwise than its API says ({name}: {name_2})"
    CANNOT_TRANSITION_STATUS = "Cannot transition status"
    FORGE_NAMES_ADDRESSES_ANOTHER_HOST = "the forge {host} names addresses of another host, which get no token"
    FORGE_NOT_ANSWER = "the forge {host} does not answer: {why}"
    GITEA_NEEDED = "a Gitea or Forgejo server is needed; give --forge-url as https://HOST"
    GIVE_FORGE_URL = "give --forge-url as https://HOST, without a user, and the token by --forge-token-file"
    INSTALL_IT_WITH = "install it with: {extra}"
    IS_NO = "{name} is no {name_2}"
    NO_REPOSITORY_HERE = "{repository!r} is no repository here; give --forge-repo as OWNER/NAME"
    PACKAGE_NOT_INSTALLED = "the package {package} is not installed"
    PROGRESS_WAITING_STATE_BRANCH_SAYS = "in progress, or waiting: the state branch says for what"
    REDIRECTS_ANOTHER_ADDRESS = "redirects to another address, which gets no token: give --forge-url as that one"
    REFUSES_REQUEST = "refuses a request: {status}{why}"
    REFUSES_TOKEN = "refuses the token: {status}{why}"
    THE_FORGE = "the forge {host} {why}"
    THE_FORGE_REQUEST = "the forge {host} {why} ({request})"
    URL_FORGE_NO_HTTP_HTTPS = "the URL of the forge is no http or https URL of a host"
