"""Every sentence of gitfleet.workload, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class WorkloadText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ANOTHER_CONTROLLER_ROLLOUT_MOVE_ONLY = (
        "{live} has another controller, {owner}; a rollout can move only what nobody else moves"
    )
    ANOTHER_KIND_NAME_WORKLOADS_ONE = "{other} is of another kind than {target}; name workloads of one kind"
    ANOTHER_NAMESPACE = "{key} is in another namespace; write the rollout in namespace {namespace}, or allow it in spec.policy.crossNamespace of FleetConfig"
    BATCHES_PLAN_PODS = "the batches of the plan have {sum} pods, and {span} are to change; correct rolloutBatches"
    CANNOT_JUDGED = "it cannot be judged"
    CLUSTER_COMES_FIRST = "cluster {name} comes first"
    CLUSTER_NOT_ANSWER = "the cluster does not answer"
    CLUSTER_NOT_YET = "the cluster does not have {revision} yet"
    CLUSTER_TARGETREVISION_NAME = (
        "the cluster has {snapshot} and targetRevision is {index}: name {there}, or roll the placement back to {index}"
    )
    CONTROLLER_CHOOSES_PODS = "the controller of {name_of} chooses the pods; give replicas in place of podList"
    CONTROLLER_NOT_SEEN_NEWEST_CHANGE = "the controller of {live} has not seen its newest change yet"
    FAILED_CHANGE_TARGET = "it failed: {why}; change its target, or remove the rollout"
    GIVEN_BACK = "is to be given back"
    IS_BE_CHANGED = "is to be changed"
    IS_REMOVED = "{pointer} is removed"
    ITS_WORKLOAD_IS = "its workload is {is_scaled_by}"
    KIND_NO_WORKLOAD_HANDLER_KNOWS = "{target} is of a kind that no workload handler knows; known are {known}"
    LASTBATCHTOROLLOUT_COUNTS_FROM = (
        "lastBatchToRollout is {last_batch}, which counts from 0, and that batch is done; raise it to go on"
    )
    MAKES_PODS_NEWEST_TEMPLATE_ALONE = (
        "{name_of} makes pods of its newest template alone; give the one of before back in its manifest"
    )
    MAKES_ROOM_ONE_NEWER_CONTENT = "{pod} makes room for one with the newer content"
    METRICS_MEASURED = "its metrics are measured"
    MOVED_SPEC_REPLICAS_ALONE = (
        "{name_of} is moved by spec.replicas alone; name workloads with the older content in sourceRef"
    )
    NEXT_POD_FOLLOWS = "the next pod follows at {time_text}"
    NOTHING_GOES_BACK = "nothing goes back, since {why}"
    NOTHING_ROLL_OUT = "there is nothing to roll out: the target has the content that was rolled out last"
    NOT_ABOUT_WORKLOAD_YET = "it is not about this workload yet"
    NOT_APPLIED_YET_WANTED = "{target} has not been applied yet as it is wanted"
    NOT_CLUSTER = "{target} is not on the cluster"
    NOT_KEPT_NAME_ONE_GITFLEET = "{name} is not there; name one that `gitfleet get snapshots` lists"
    NOT_OBSERVED_YET = "{key} was not observed yet"
    NO_HANDLER_INSTALLED = "no handler of {group_kind} is installed"
    NO_LONGER_REVISION_BEFORE = "{name_of} no longer has the revision of before; give its template back in the manifest"
    NO_LONGER_TEMPLATE_BEFORE = "{name_of} no longer has the template of before; give it back in its manifest"
    NO_PLACEMENT_ANY_MORE = "no placement has {target} any more; write its manifest back, or name another target"
    NO_PLACEMENT_NAME_ONE_PLACEMENTREF = "there is no placement {key}; name one in placementRef"
    NO_WORKLOAD_ROLLOUT_ONCE = "no workload rollout is in {rolling} and {batch} at once"
    PAUSED_SET_PAUSED_FALSE = "it is paused; set paused to false"
    PODS_ASKS = "{live} has {there} pods and asks for {wanted}"
    PODS_BOTH_CONTENTS_ITSELF = "{name_of} has pods of both contents itself; leave sourceRef out"
    PODS_NOT_READ = "the pods of {target} were not read"
    PODS_OLDER_CONTENT = "{old} pods have the older content, {most} may have it"
    PODS_READY = "{ready} of {wanted} pods of {live} are ready"
    PODS_READY_NOT = "{upgraded_ready} of {wanted} pods are ready, {unavailable} may be not"
    POD_EVERY_NODE_SELECTS = "{name_of} has a pod on every node that it selects; leave targetSize out"
    ROLLOUT_FILE_GONE = "the rollout's file is gone"
    ROLLOUT_MOVES_LET_ONE_ROLLOUT = "rollout {other} moves {key}; let one rollout name it"
    SERVER_NOT_SAY_TEMPLATE = (
        "the server does not say which template {name_of} has; it lacks the annotation {generation}"
    )
    SNAPSHOT_PLACEMENT = "snapshot {index} of placement {key}"
    SOURCE_STAYS_UNTIL_READY = "{ready} of {size} pods of {target} are ready; {source} stays until all are"
    STILL_GO_BACK_BEFORE = "{count} still to go back to what was before"
    TARGETSIZE_BELOW_PODS = "targetSize is {wanted}, below the {original} pods there are; raise it"
    TARGETSIZE_PODS_ROLLOUT_CHANGES_CONTENT = "targetSize is {wanted} and {target} is to have {size} pods: leave targetSize out, or write {wanted} into its manifest"
    TARGET_DELETED = "the target is to be deleted"
    TARGET_OTHER_CONTENT = "the target has other content, or another one is the target"
    UPGRADES_PODS_FROM_HIGHEST_ORDINAL = (
        "{name_of} upgrades its pods from the highest ordinal down: podList must name {names}{part}"
    )
    WEBHOOK_NOT_ANSWERED_YET = "webhook {hook} has not answered yet"
    WORKLOADS_NAME_ONE_COMPONENTLIST = (
        "{name} has {count} workloads{named} that a rollout can move in namespace {home}; name one in componentList"
    )
    WORKLOAD_ROLLOUT_CANNOT_EVENT = "a workload rollout in {phase} cannot have the event {event}"
