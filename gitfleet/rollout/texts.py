"""Every sentence of gitfleet.rollout, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class RolloutText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_NAME_NEW_RUN = "add a {kind} of this name, and a new run"
    ADD_NEW_RUN_GO = "add a new run to go on"
    ADD_RUN_AGAIN_UNDER_ANOTHER = "add the run again under another name, or once the other one is removed"
    ALLOWS_NO_FURTHER = "{state} and {must}: {limit} allows no further {what}{until}"
    ALLOWS_NO_FURTHER_CLUSTER = "{state}: {limit} allows no further cluster{until}"
    APPLYSTRATEGY_UPDATERUN_OUTDATED = (
        "the applyStrategy in the updateRun is outdated: the placement's has changed since"
    )
    APPLY_STRATEGY_CHANGED = "the apply strategy has changed"
    APPROVAL_REQUEST_APPROVED_CANNOT_REVERTED = "The approval request has been approved and cannot be reverted"
    APPROVAL_REQUEST_BELONGS_STAGE_RUN = "approval request {key} belongs to stage {target_stage} of run {parent_run}"
    APPROVAL_RUN_WOULD_ANSWER_RUN = (
        "approval `{name}` of this run would answer run `{other}` too, as its approval `{taken}`"
    )
    BINDING_CLUSTER_STAGE_NOT_FOUND = "the binding for cluster `{cluster}` in stage `{stage}` is not found"
    BINDING_UPDATING_CLUSTER_STAGE_NOT = "the binding of the updating cluster `{name}` in the stage `{stage}` is not up-to-date with the desired status, please check the status of binding `{binding}` and see if there is a concurrent updateRun referencing the same placement and updating the same cluster"
    CAN_BE_PICKED = "{count} can be picked"
    CHANGE_STAGES_LABEL_SELECTORS_EACH = "change the stages' label selectors so that each cluster is in one of them"
    CLUSTERS_NOT_ANSWER = "{count} of {of} clusters {do} not answer ({silent}): with more than half of them silent at once the cause may be the network of gitfleet itself, so nothing moves until enough answer"
    CLUSTERS_SNAPSHOT_LATEST = "clusters have snapshot {old}, the latest is {latest}: {why}"
    CLUSTERS_STAGE_CHANGED = "the clusters in stage {was} have changed, {names}"
    CLUSTER_APPEARS_MORE_ONE_STAGES = "cluster `{name}` appears in more than one stages"
    CLUSTER_COUNT_INITIALIZED_UPDATERUN_OUTDATED = "the cluster count initialized in the updateRun is outdated, latest: {count}, recorded: {policy_observed_cluster_count}"
    CLUSTER_DELETED_NOT_FOUND_DELETING = "the cluster `{fresh}` to be deleted is not found in the deleting stage"
    CLUSTER_NOT_ANSWER = "the cluster does not answer; a later run updates it"
    CLUSTER_NO_LONGER_PICKED = "the cluster is no longer picked"
    CLUSTER_OVERRIDES_DEPEND_CHANGED = "what its overrides depend on of the cluster has changed"
    CONCURRENT_RUNS_MUST_IDENTICAL_STRATEGIES = (
        "concurrent runs must have identical strategies: let it finish, or remove it, and add a new run"
    )
    DETECTED_NEW_CHANGES_RESOURCES_STARTED = "Detected the new changes on the resources and started the rollout process"
    EARLIER_PLACEMENT_LEFT_CLUSTER_STILL = "what an earlier placement left on the cluster is still being removed"
    EVICTION_ALLOWED_NO_BUDGET_SPECIFIED = "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified"
    EVICTION_ALLOWED_PLACEMENT_FAILED = "Eviction is allowed, placement has failed"
    EVICTION_ALLOWED_RESOURCES_PROPAGATED_PLACEMENT = "Eviction is allowed, resources propagated by placement is currently being removed from cluster targeted by eviction"
    EVICTION_BLOCKED_MISCONFIGURED_BUDGET = "Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll ClusterResourcePlacement"
    EVICTION_BLOCKED_PLACEMENT_NOT_PROPAGATED = (
        "Eviction is blocked, placement has not propagated resources to target cluster yet"
    )
    EVICTION_SPECIFIED_BUDGET = "Eviction is {verb} by specified ClusterResourcePlacementDisruptionBudget, {counts}"
    EVICTION_VALID = "Eviction is valid"
    EXPIRED_COUNTS_NOTHING = "has expired at {end} and counts for nothing; remove the file"
    FAILED_FIND_PLACEMENT_TARGETED_EVICTION = "Failed to find ClusterResourcePlacement targeted by eviction"
    FAILED_FIND_SCHEDULER_DECISION_PLACEMENT = (
        "Failed to find scheduler decision for placement in cluster targeted by eviction"
    )
    FALSE_UPDATE_NEEDS_NO_BUDGET = "{change}; {worst} is False there ({reason}), so the update needs no budget"
    FOUND_DELETING_PLACEMENT_TARGETED_EVICTION = "Found deleting ClusterResourcePlacement targeted by eviction"
    FOUND_MORE_ONE_SCHEDULER_DECISION = (
        "Found more than one scheduler decision for placement in cluster targeted by eviction"
    )
    FOUND_PLACEMENT_PICKFIXED_PLACEMENT_TYPE = (
        "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction"
    )
    GITFLEET_APPROVE_WRITES_ONE = "{why}; `gitfleet approve {run} {stage}` writes one"
    GIVE_CLUSTER_LABEL = "give the cluster such a label, or take sortingLabelKey from the stage"
    GIVE_STRATEGY_TYPE_EXTERNAL = "give it strategy type External, and add a new run"
    GIVING_UP_RESOURCES = "is giving up its resources"
    GOES_OUT_NEW_CLUSTER = "{latest_snapshot} goes out to a new cluster"
    INDEXES_THERE_ARE = "the indexes there are: {known}"
    INITIALIZED_SUCCESSFULLY = "{name} initialized successfully"
    IS_NOT = "is not {step}: {condition}"
    KEEPS_COMMIT_NEW_RUN = "what {cluster} has cannot be rendered; correct it and commit a new run"
    LABEL_STAGE_SELECTS = "label them so that a stage selects them, or add a stage"
    LEAST_MUST_STAY = "at least {floor} must stay so"
    MORE_HALF_PLACEMENT_CLUSTERS_NOT = "More than half of the placement's clusters do not answer, so nothing moves"
    NAMESPACE_NOT_THERE_YET = "namespace `{namespace}` does not exist on {where} yet; another placement brings it"
    NAME_PLACEMENT_NEW_RUN = "name a placement that there is, in a new run"
    NOT_ALL_BEFORE_STAGE_TASKS = "Not all before-stage tasks are completed, waiting for approval"
    NOT_ANSWER_GETS_WHEN_ANSWERS = "it does not answer, and gets it when it answers again"
    NOT_ANSWER_ROLLOUT_GOES_WITHOUT = (
        "{cluster} does not answer: the rollout goes on without it and reaches it when it answers again"
    )
    NOT_DELETED = "has not deleted {there}: {there_2}{more_than_first}"
    NOT_FINISH_MORE_MAXFAILURES_ALLOWS = "{stuck} did not finish, which is more than maxFailures {most} allows"
    NOT_GET_HEALTHY_BEFORE = "; {stuck} did not get healthy with what they had before"
    NOT_REPORTED_NEWEST_GENERATION = "has not reported {step} for its newest generation"
    NOT_ROLLED_OUT = "is {state} and has not been rolled out"
    NOT_STARTED_STAGE_YET = " has not started stage {stage} yet"
    NOT_UPDATED_MAXFAILURES_LETS_RUN = "it is not updated, and maxFailures {max_failures} lets the run go on without it"
    NO_CLUSTER_ANYTHING_GO_BACK = "no cluster had anything to go back to"
    NO_CLUSTER_RUN_STARTS_NOW = "no cluster of the run starts now"
    NO_CLUSTER_UPDATED = "no cluster was updated"
    NO_LONGER_PICKED = "{left} {verb} no longer picked: waits for a run that takes the placement off"
    NO_LONGER_PICKED_NOT_CLEARED = "is no longer picked and not cleared yet"
    NO_RESOURCESNAPSHOTS_INDEX = "no resourceSnapshots with index `{index}` found for placement `{placement}`"
    NO_RESOURCE_SNAPSHOT_YET = "there is no resource snapshot yet"
    NO_SCHEDULED_DELETED_BINDINGS_FOUND = (
        "no scheduled or to-be-deleted bindings found for the latest policy snapshot {policy}"
    )
    NUMBER_SELECTED_BINDINGS_NOT_EQUAL = (
        "the number of selected bindings {count} is not equal to the observed cluster count {wanted}"
    )
    OVERRIDES_CONCERN_CHANGED = "the overrides that concern it have changed"
    PARENT_PLACEMENT_NOT_EXTERNAL_ROLLOUT = (
        "parent placement does not have an external rollout strategy, current strategy: {strategy}"
    )
    PARENT_PLACEMENT_NOT_FOUND = "parent placement not found"
    PLACEMENT_NOT_GONE_YET_FROM = "the placement is not gone yet from {going}"
    PLACEMENT_NOT_PICK_CLUSTER_ANY = "the placement does not pick the cluster any more"
    PLACEMENT_NOT_SCHEDULED_YET = "the placement is not scheduled yet"
    PLACEMENT_STILL_EARLIER_POLICY = "the placement still has {old} by an earlier policy"
    POLICY_SNAPSHOT_INDEX_USED_UPDATERUN = "the policy snapshot index used in the updateRun is outdated, latest: {policy}, recorded: {policy_snapshot_index_used}"
    POLICY_SNAPSHOT_NOT_FULLY_SCHEDULED = "policy snapshot `{policy}` not fully scheduled yet"
    REFERENCED_UPDATESTRATEGY_NOT_FOUND = "referenced updateStrategy not found: `{strategy}`"
    RESOURCES_MOST = "{count} {verb} the resources and at most {most} may"
    RUN_CLUSTER_NO_LONGER_PICKED = "run {run}: the cluster is no longer picked"
    RUN_INITIALIZED_WAITS_SPEC_STATE = "run {} is initialized and waits for spec.state Run"
    RUN_MESSAGE = "run {run}: {message}"
    RUN_NEEDS_LEAST_ONE_CLUSTER = "a run needs at least one cluster"
    RUN_ROLLS_BACK = "run {run} rolls back: {why}"
    RUN_ROLLS_BACK_2 = "run {run} rolls back: {run_2}{stuck}"
    RUN_ROLLS_BACK_AGAIN_INSTEAD = "run {run} rolls back: {snapshot} again instead of snapshot {failed}"
    RUN_ROLLS_BACK_WAITS_SPEC = "run {} rolls back, and waits for spec.state Run"
    RUN_SAME_PLACEMENT_UNFINISHED_ANOTHER = (
        "run `{other}` of the same placement is unfinished and has another strategy, `{strategy_name}`"
    )
    RUN_STARTS_NO_CLUSTER_WHILE = "run {run} starts no cluster while more than half do not answer, {silent}"
    RUN_STOPPED_WAITS_SPEC_STATE = "run {} is stopped and waits for spec.state Run"
    RUN_STOPPING_STARTED_GOES_END = "run {} is stopping: what it started goes on to its end"
    RUN_STUCK_STAGE = "run {run} is stuck in stage {stage}: {stuck} did not finish"
    RUN_WAITS_ANALYSIS_STAGE = "run {run} waits for the analysis of stage {stage}: {why}"
    RUN_WAITS_STAGE_APPROVAL = "run {run} waits {side} stage {stage} for approval {key}"
    RUN_WAITS_STAGE_MUST_STAY = "run {run} waits: {list} in stage {stage} must stay healthy until {until}"
    RUN_WAITS_STAGE_UNTIL = "run {run} waits in stage {stage} until {end}"
    RUN_WAITS_UNTIL_PLACEMENT_GONE = "run {run} waits until the placement is gone from {left}"
    SOMETHING_ELSE_UPDATED_CLUSTER_SINCE = "something else has updated the cluster since"
    SOME_CLUSTERS_NOT_PLACED_ANY = (
        "some clusters are not placed in any stage, total {count}, showing up to {most_named}: {missing}"
    )
    SORTING_LABEL_CLUSTER_NOT_VALID = (
        "the sorting label `{sorting_label_key}:{text}` on cluster `{cluster}` is not valid: it must be a whole number"
    )
    STAGES_ABORTED_DUE_NON_RECOVERABLE = "The stages are aborted due to a non-recoverable error"
    STAGE_SKIPPED_BECAUSE_NO_CLUSTERS = "Stage skipped because it has no clusters"
    STAGE_STARTS_MOST_MINUTE = "stage {stage} starts at most {start_rate} a minute, the next at {later}"
    STAGE_UPDATES_MOST_SAME_TIME = "stage {stage} updates at most {limit} at the same time"
    STAGE_UPDATE_ABORTED_DUE_NON = "Stage update aborted due to a non-recoverable error"
    STARTS_NO_FURTHER_CLUSTER = "starts no further cluster: {refused}"
    STATE_BRANCH_LOST_RESOURCE_SNAPSHOT = "the state branch lost resource snapshot {index} of the updateRun"
    STRATEGY_ERRORS_CORRECT = "its strategy `{strategy}` has errors ({faults}); correct them"
    STRATEGY_MEMBERSHIP_FREEZE_KEEPS_RUN = "a strategy with membership Freeze keeps a run's first clusters"
    TAKES_BACK_NOT_AVAILABLE = "{change}; nothing is available there yet, so no further cluster becomes unavailable"
    THEN_ADD_NEW_RUN = "then add a new run, or one of another snapshot"
    UPDATERUN_STUCK_WAITING_CLUSTER_STAGE = "The updateRun is stuck waiting for {stuck} cluster(s) in stage {stage} to finish updating, please check placement status for potential errors"
    UPDATERUN_WAITING_BEFORE_STAGE_TASKS = (
        "The updateRun is waiting for before-stage tasks in stage {stage} to complete"
    )
    UPDATE_RUN_STOPPED = "The update run has been stopped"
    UPDATING_CLUSTERS_FINISHED = "The updating clusters have finished, waiting to be resumed"
    VARIANTS_CHANGED = "the variants change: {changes}"
    WAITING_CLUSTERS_BEING_UPDATED_FINISH = "Waiting for the clusters that are being updated to finish"
    WAITS = "waits {where}, {first}"
    WAITS_RUN_NAMES = "waits for a run that names it"
    WENT_BACK_BEFORE = "{names} went back to what they had before"
    WHICH_IT_HAD = "{resource_snapshot}, which it had, {why}"
