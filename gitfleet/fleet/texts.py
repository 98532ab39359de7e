"""Every sentence of gitfleet.fleet, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class FleetText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    AGAIN_AFTER_EACH_APPLY = "it {what} again after each apply, {times} times since {time_text}; {names} on {cluster} {does} it; the next apply is at {time_text_2}"
    AGENT_NOT_ANSWERED = "the agent has not answered on {found}"
    AGENT_NOT_REPORTED_SINCE = "its agent has not reported since {time_text}, as its clock has it"
    AGENT_NOT_SEEN_LAST_DELIVERY = "the agent has not seen its last delivery on {unseen}"
    AGENT_REPORTS_NOT_YET = "its agent reports at {time_text}, which is not yet: set its clock"
    ANSWERS_NOT = "{host} answers {status} and not {expected}{why}"
    BRANCH_DELIVERIES_CANNOT_READ = "a branch for deliveries cannot be read, and is written again: {error}"
    BRANCH_HOLDS_SOMETHING_ELSE = "that branch holds something else"
    BRANCH_NO_CLUSTER_NEEDS_ANY = "the branch {branch}, which no cluster needs any more, cannot be removed: {error}"
    CALL_ROLLOUT_WAITS = "a call of a rollout waits, as no thread can be started: %s"
    CANNOT_PUSHED = "what {name} is to do cannot be pushed to {branch}: {error}"
    CANNOT_READ = "cannot be read: {error}"
    CHANGED_AGENT_ALONE = "{cluster} is changed by its agent alone"
    DELIVERY_EXECUTOR_PROCESS = (
        "delivery.executor is {executor} and this process {given}, so it asks clusters itself: {hint}"
    )
    EARLIER_CALLS_NOT_RETURNED = "{stuck} earlier calls to {host} have not returned"
    EXECUTOR_FAILED = "the executor {name} failed: {why}"
    EXECUTOR_GAVE_SOMETHING_ELSE = "the executor {name} gave something else"
    EXECUTOR_NOT_ANSWERED_WITHIN = "the executor {name} has not answered within {patience:g} s"
    EXECUTOR_TAKES_NO_WORK = "the executor {name} takes no work: {why}"
    FACTORY_MADE_NOT_DERIVE_FROM = "its factory made a {name}, which does not derive from WorkloadHandler"
    GAVE_NO_MEASUREMENT = "metric provider {provider} gave no sound MeasurementState: an outcome and a message, with 1 to {most_values} numbers where it measured, or the seconds until it is to look again"
    GITFLEET_BEING_STOPPED_WHILE_CLUSTERS = "gitfleet is being stopped while clusters have not answered"
    GITFLEET_ONE_ITSELF = "gitfleet has one for {of_kind} itself"
    GIVEN_NONE = "was given none"
    GIVES_NO_ANSWER_WITHIN = "{host} gives no answer within {timeout_seconds:g} s"
    GIVE_SPEC_CONNECTION_CONTEXT = (
        "give spec.connection a context, a kubeconfig, inCluster, pull or simulated (docs/clusters.md)"
    )
    IT_HAS_NO = "it has no {report_file}"
    LARGER_BYTES = "its {report_file} is larger than {largest_report} bytes"
    MEMBERCLUSTER_NO_CONNECTION = "{where}MemberCluster/{cluster} has no connection"
    NAME_ENDS_WAY_GIT_TAKES = "its name ends in a way that git takes in no name of a branch: rename it"
    NOT_ANSWER_WITHIN = "{name} did not answer within {timeout:g} s"
    NOT_ASKED_TIME_EXECUTOR = "{name} was not asked in time by the executor {name_2}"
    NOT_ASKED_WITHIN = "{name} was not asked within {timeout:g} s, since other clusters took so long"
    NOT_COUNT = "{why}, so it does not count; spec.connection.publicKeys of the cluster lists the keys that do"
    NO_AGENT_REPORTED_BRANCH_YET = "no agent has reported on the branch {branch} yet: {how}"
    OBJECTS_MORE_BYTES_TOGETHER = "its objects have more than {largest_objects} bytes together"
    REACHED_AGENT_MAKES_NO_DRY = "{cluster} is reached by its agent, which makes no dry runs"
    REACHED_OWN_AGENT = "{cluster} is reached by its own agent, which needs a git remote (no --state-dir)"
    REDIRECTS_ANOTHER_ADDRESS = "{host} redirects to another address ({status}), which is not followed: name that one"
    REPORT_BRANCH = "the report on the branch {branch} {error}"
    RUN_EXECUTOR_NAME_ADDRESS_GIVES = "run --executor NAME=ADDRESS gives it one"
    RUN_GITFLEET_AGENT_CLUSTER = "run `gitfleet agent --cluster {cluster}{named}`"
    SERVER_FILLED_NOT_KNOWN_ALL = (
        "what the server filled in on {} is not known of all objects yet, and the next pass asks"
    )
    STILL_BUSY_EARLIER_CALL = "{name} is still busy with an earlier call"
    VALUES_ENCRYPTED_NO_SERVER_ASKED = "its values are encrypted, and no server is asked about such a manifest"
    WORKLOAD_HANDLER_CANNOT_USED = "workload handler %s cannot be used: %s"
