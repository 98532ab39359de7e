"""Every sentence of gitfleet.status, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class StatusText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ALL_CLUSTER_START_ROLLING_OUT = "All {} cluster(s) start rolling out the latest resource"
    AVAILABILITY_SELECTED_RESOURCES_UNKNOWN_YET = "The availability of the selected resources is unknown yet"
    BEING_FINALIZED = "is being finalized"
    BEING_VERIFIED = "is being verified"
    CLUSTER_NOT_FINISHED_CREATING_UPDATING = (
        "There are {} cluster(s) which have not finished creating or updating work(s) yet"
    )
    DIFF_REPORTING_CLUSTERS_STILL_PROGRESS = "Diff reporting in {} clusters is still in progress or has failed"
    DIFF_REPORTING_CLUSTER_COMPLETED = "Diff reporting in {} cluster(s) has been completed"
    DIFF_REPORTING_JUST_STARTED = "Diff reporting has just started; its status is not yet to be known"
    EVICTED = "{cluster} evicted by {eviction}: {message}"
    FAILED = "{cluster} failed: {reason}: {message}"
    FAILED_APPLY_RESOURCES_CLUSTER = (
        "Failed to apply resources to {} cluster(s), please check the `failedPlacements` status"
    )
    FAILED_OVERRIDE_RESOURCES_CLUSTER = "Failed to override resources in {} cluster(s)"
    GETS_SNAPSHOT = "{cluster} gets snapshot {snapshot}"
    GOES_ACCEPTED_LAST_UNTIL_ERRORS = "goes on as it was accepted last until the errors in {files} are corrected"
    GONE_REMOVALS_TAKEN_BACK = "no longer holds anything"
    IS_IN = "{place} is in {fields}{why}"
    IT_IS_LEFT_AS_IT = "it is left as it was: {sentence}"
    LEFT_FLEET = " left the fleet; objects that stay there: {count}"
    LEFT_NO_LONGER_MANAGED = "{place}{names} left on {cluster}, no longer managed"
    MOVES_SNAPSHOT = "{cluster} moves to snapshot {snapshot}"
    NEWEST_CONTENT_ALL_CLUSTERS = "{placement} has its newest content on all of its clusters, and is available there"
    NOT_DELETED = "{failed} is not deleted: {failed_2}"
    NOT_EVICTED = "{cluster} not evicted by {eviction}: {message}"
    NOT_SEEN_YET = "not seen yet"
    NO_ERRORS_NO_WARNINGS_LEFT = "no errors and no warnings are left"
    NO_LONGER_PICKED = "{cluster} no longer picked"
    NO_OVERRIDE_RULES_CONFIGURED_SELECTED = "No override rules are configured for the selected resources"
    PICKED = "{cluster} picked"
    PLACEMENT_COULD_NOT_DECIDED_STAYS = "the placement could not be decided and stays as it is: {sentence}"
    PROCESS_APPLYING_RESOURCES_MEMBER_CLUSTER = "In the process of applying the resources on the member cluster"
    PROCESS_CREATING_UPDATING_WORK_OBJECT = (
        "In the process of creating or updating the work object(s) in the hub cluster"
    )
    PROCESS_DECIDING_WHETHER_ROLL_OUT = "In the process of deciding whether to roll out the latest resources or not"
    PROCESS_OVERRIDING_SELECTED_RESOURCES_IF = (
        "In the process of overriding the selected resources if there is any override defined"
    )
    REMOVALS_WAIT_APPROVAL = "removals wait for an approval of {holds}; all other changes go out"
    REMOVAL_WAITS_APPROVAL = "its removal waits for an approval of {hold}; until then it gets nothing new"
    RESOURCES_REMOVED_FROM = "resources removed from {cluster}"
    ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY = "The rollout is being blocked by the rollout strategy"
    ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY_CLUSTER = (
        "The rollout is being blocked by the rollout strategy in {} cluster(s)"
    )
    ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_CLUSTER = (
        "Rollout is controlled by an external controller and cluster {} is in RolloutStarted Unknown state"
    )
    ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_DIFFERENT = "Rollout is controlled by an external controller and different resource snapshot versions are observed across clusters"
    ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_NO = "Rollout is controlled by an external controller and no resource snapshot name is observed across clusters, probably rollout has not started yet"
    SCHEDULING_NOT_COMPLETED = "Scheduling has not completed"
    SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW = "The selected resources in {} cluster are available now"
    SELECTED_RESOURCES_CLUSTER_STILL_NOT = "The selected resources in {} cluster(s) are still not available yet"
    SELECTED_RESOURCES_SUCCESSFULLY_APPLIED_CLUSTERS = "The selected resources are successfully applied to {} clusters"
    SELECTED_RESOURCES_SUCCESSFULLY_OVERRIDDEN_CLUSTERS = (
        "The selected resources are successfully overridden in the {} clusters"
    )
    SNAPSHOT_TAKEN_FROM_COMMIT = "{place}snapshot {fields} taken from commit {fields_2}"
    STAGE_WAITS_APPROVAL = "stage {fields} waits for approval {fields_2}"
    STATE_FLEET_BROUGHT_UP_DATE = "state of the fleet brought up to date"
    STATE_RESTORED = "the state was restored from commit {commit} of the state branch; gitfleet deletes nothing until you approve: gitfleet approve {hold}"
    STILL_CLUSTER_PROCESS_APPLYING_RESOURCES = (
        "There are still {} cluster(s) in the process of applying the resources on the member cluster"
    )
    STILL_CLUSTER_PROCESS_CHECKING_AVAILABILITY = (
        "There are still {} cluster(s) in the process of checking the availability of the selected resources"
    )
    STILL_CLUSTER_PROCESS_CHECKING_CONFIGURATION = (
        "There are still {} cluster(s) in the process of checking for configuration differences"
    )
    STILL_CLUSTER_PROCESS_CREATING_UPDATING = (
        "There are still {} cluster(s) in the process of creating or updating the work object(s) in the hub cluster"
    )
    STILL_CLUSTER_PROCESS_DECIDING_WHETHER = (
        "There are still {} cluster(s) in the process of deciding whether to roll out the latest resources or not"
    )
    STILL_CLUSTER_PROCESS_OVERRIDING_SELECTED = "There are still {} cluster(s) in the process of overriding the selected resources if there is any override defined"
    UPDATED_SNAPSHOT = "{cluster} updated to snapshot {snapshot}"
    WAITS_APPROVAL = "waits for approval"
    WAITS_TAKE_OFF = "waits to take {placement_name} off {eviction}: {why}"
    WORKS_SUCCCESFULLY_CREATED_UPDATED_TARGET = (
        "Works(s) are succcesfully created or updated in the {} target clusters' namespaces"
    )
