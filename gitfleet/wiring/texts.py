"""Every sentence of gitfleet.wiring, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class WiringText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    AGENT_REPORTS_GIT_REMOTE = "an agent reports to a git remote: leave out --state-dir"
    CANNOT_READ = "{file} cannot be read: {why}"
    COMMIT_HOLDS_NO_STATE = "the state branch's commit {head} holds no state of gitfleet"
    EXECUTOR_REACHED_WITHOUT_TLS = (
        "the executor at %s is reached without TLS: who can reach it can run code on its workers"
    )
    FACTORY_MADE_NOT_DERIVE_FROM = "its factory made a {name}, which does not derive from MetricProvider"
    FILE_OF_NOTIFY = "the file {file} of --notify {name}"
    FILE_TOO_LARGE = "{file} is larger than {most} KiB, which no file of a destination is"
    FIRST_RECONCILE_MAKES_IT = "`gitfleet run --once` makes it with the first reconcile"
    FORGE_LACKS = "forge {name} has no {lacking}"
    GIT_LOG_LISTS_THEM = "`git log gitfleet/state` lists them"
    INSTALL_WITH = "install it with: {extra}"
    KNOWN_ARE = "known are {names}"
    LISTENING = "listening on %s"
    METRIC_PROVIDER_CANNOT_USED = "metric provider {name} cannot be used: {why}"
    NAMESPACE_KUBE_SYSTEM_CANNOT_READ = (
        "the Namespace kube-system cannot be read, so Secrets are applied again at each start"
    )
    NAME_REMOTE = 'name the remote that has it: -C "$(git remote get-url {remote})"'
    NO_BRANCH_YET = 'there is no branch "{name}" yet'
    NO_CERTIFICATES_PEM = "{file} of --outbound-ca holds no certificates in PEM that can be read"
    NO_COMMIT_STATE_BRANCH = '"{at}" is no commit of the state branch'
    NO_EXECUTOR = "there is no executor {name}"
    NO_FORGE = "there is no forge {name}; known are {known}"
    NO_METRIC_PROVIDER = "there is no metric provider {name}; installed are {known}"
    NO_NOTIFIER = "no notifier {type} is installed; there are {known}"
    NO_OPENTELEMETRY = "OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, and OpenTelemetry is not installed; %s"
    NO_TOKEN_ONE_LINE = "{source} holds no token on one line"
    PLUG_IN_CANNOT_LOADED = "%s of %s cannot be loaded: %s"
    PUSH_LAST_COMMIT_BACK = (
        "push the last commit that gitfleet made there back; docs/state-branch.md says how to find it"
    )
    SIGNING_KEY_CANNOT_READ = "the signing key {key} cannot be read: {why}"
