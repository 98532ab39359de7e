"""Every sentence of gitfleet.agent, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class AgentText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    AGENT_MAKES_FIRST_REPORT = "The agent makes it with its first report; is the name right?"
    ANOTHER_CLUSTER = 'it is for another cluster, "{cluster}"'
    BRANCHES_DELIVERIES_THOSE_MEMBERS_BEGIN = (
        "The branches of deliveries and those of members begin alike; give each a name of its own."
    )
    BRANCH_MOVED_OTHERS_ALL_TIME = (
        "The branch {branch} of {shown} is moved by others all the time; import {shown_2} again."
    )
    CANNOT_NAME_CLUSTER = "{cluster!r} cannot be the name of a cluster."
    CHECK_CLUSTER_CONTEXT = (
        "check --cluster and --context; where the cluster was set up again, remove that branch first"
    )
    DELIVERY_NOT_CARRIED_OUT = "the delivery {head} is not carried out: {error}"
    EXPORT_AGAIN_HUB_SIDE = "Export it again at the hub's side."
    EXPORT_AGAIN_SITE = "Export it again at the site; if its clock was set back, delete {branch} in {shown} once."
    GIVE_NAME_MEMBERCLUSTER = "Give the name of the MemberCluster: lower-case letters, digits, dashes and dots."
    HOLDS_NO_REPORT_AGENT = "{shown} holds no report of an agent: its commit {commit} has parents."
    HOLDS_NO_REPORT_AGENT_NO = "{shown} holds no report of an agent: {path!r} is no file of one."
    HUB_MAKES_CLUSTER_REACHED_AGENT = "The hub makes it for a cluster that is reached by an agent; is the name right?"
    IF_HUB_BEGUN_BRANCH_AGAIN = (
        "If the hub has begun its branch again, delete {branch} in {shown} and import the file again."
    )
    NOT_GO_FROM = "{shown} does not go on from what {shown_2} has ({at}): it was never before {commit}."
    NOT_NEWER_REPORT = "{shown} is not newer than the report that {shown_2} has: {at} against"
    NO_BRANCH = "{shown} has no branch {branch}."
    NO_BRANCH_YET = "there is no branch {needed} yet: the hub has delivered nothing to this cluster"
    OLDER_WENT_FROM = "{shown} is older than what {shown_2} has: {branch} went on from {at}"
    OPERATIONS_ANOTHER_FORM_HUB_GIVES = "it has operations of another form than a hub gives them"
    REPORTED_ANOTHER_CLUSTER_ONE_AGENT = "{needed} was reported by another cluster than the one that this agent reaches"
    REPORTING_AGAIN_AFTER = "reporting again after %s"
