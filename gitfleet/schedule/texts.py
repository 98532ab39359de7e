"""Every sentence of gitfleet.schedule, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ScheduleText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_CLUSTERNAMES = "add it to clusterNames"
    ADD_CLUSTER_FILE_AGAIN = "add the cluster's file again"
    ADD_LABEL_ONE_VALUES = "add label {key} with one of the values {values}"
    ADD_MEMBERCLUSTER_NAME = "add a MemberCluster of that name"
    AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE = "affinity score: {affinity}, topology spread score: {topology_spread}"
    BRING_PROPERTY = "bring property {requirement} to {wanted} ({now})"
    CANNOT_USED = "cannot be used"
    CANNOT_WEIGH_OBSERVED_VALUES_LIE = "cannot weigh {value}: the observed values lie between {low} and {high}"
    CLUSTER_ALREADY_SELECTED = "cluster is already selected"
    CLUSTER_LEFT_FLEET = "cluster has left the fleet"
    CLUSTER_NOT_CONNECTED_FLEET = "cluster is not connected to the fleet: "
    CLUSTER_NOT_MATCH_ANY_REQUIRED = "cluster does not match with any of the required cluster affinity terms"
    CLUSTER_IS = 'Cluster "{cluster}" {why}'
    CLUSTER_NO_NAMESPACE_INFORMATION_AVAILABLE = "cluster has no namespace information available"
    CLUSTER_UNSCHEDULABLE = "ClusterUnschedulable, {why}"
    COULD_NOT_FIND_ALL_CLUSTERS = "could not find all clusters needed as specified by the scheduling policy"
    CREATE_NAMESPACE_CLUSTER = "create namespace {namespace} on the cluster"
    FACTORY_MADE_NOT_DERIVE_FROM = "its factory made a {name}, which does not derive from SchedulerPlugin"
    FLEET_NO_CLUSTER = "the fleet has no cluster {member}"
    FOUND_ALL_CLUSTER_NEEDED_SPECIFIED = (
        "found all cluster needed as specified by the scheduling policy, found {found} cluster(s)"
    )
    HEALTH_CONDITION_FROM_MEMBER_AGENT = "health condition from member agent is not available"
    IMPLEMENTS_NONE_POST_BATCH = "{name} implements none of post_batch, filter and score"
    IT_HAS_NONE = "it has none"
    LAST_RECEIVED_MINUTES_AGO = "last received {minutes} minutes ago"
    MAKE_CLUSTER_ELIGIBLE = "make the cluster eligible: {why}"
    MEMBER_AGENT_NOT_JOINED_YET = "member agent not joined yet"
    MEMBER_AGENT_NOT_ONLINE_YET = "member agent not online yet"
    NAMES_NO_CAPACITY = '"{name}" names no capacity: it must be total, allocatable or available'
    NOT_ELIGIBLE_YET = "is not eligible for resource placement yet: {why}"
    NOT_NAMED_PLACEMENT = "is not named by the placement"
    NOT_NAME_RESOURCE_PROPERTY = '"{name}" is not the name of a resource property'
    NO_FACT_KIND_ABOUT_CLUSTERS = 'there is no fact of the kind "{fact}" about clusters'
    NO_NAME = "{name} has no name"
    NO_RECENT_HEARTBEAT_SIGNALS = "{disconnected}no recent heartbeat signals ({when})"
    NO_SCHEDULER_PLUG = "there is no scheduler plug-in {listed}; {filter}"
    PLACEMENT_TYPE_PICKN_NEEDS_NUMBEROFCLUSTERS = "a placement of the type PickN needs numberOfClusters"
    PLUG_FAILED = "the plug-in {who} failed with {name}: {error}"
    PROPERTY_CLUSTER_CANNOT_COMPARED = "the property {name} of cluster {cluster} cannot be compared: {error}"
    RAISE_MAXSKEW_CONSTRAINT_MAKE_SCHEDULEANYWAY = (
        "raise maxSkew of the constraint on {key} to {enough} or make it ScheduleAnyway"
    )
    RAISE_NUMBEROFCLUSTERS_ABOVE = "raise numberOfClusters above {wanted}"
    REFUSES_ARGS = "refuses its args"
    REQUIREMENT_PROPERTY_CANNOT_MET = "the requirement on the property {requirement} cannot be met: {error}"
    REQUIREMENT_PROPERTY_MUST_EXACTLY_ONE = "the requirement on the property {requirement} must have exactly one value"
    SCHEDULER_PLUG_LISTED_TWICE = "the scheduler plug-in {listed} is listed twice"
    SCHEDULER_PROFILE_ERRORS = "the scheduler profile has errors: {faults}"
    SCORE_NOT_HIGH_ENOUGH = "does not score high enough ({scores})"
    SPECIFIED_CLUSTER_NOT_FOUND = 'Specified cluster "{cluster}" is not found'
    START_MEMBER_AGENT = "make the cluster answer and healthy: start its agent, or give it a connection that answers"
    SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT = (
        'Successfully scheduled resources for placement in "{cluster}" ({scores}): picked by scheduling policy'
    )
    SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT_PICKED = (
        'Successfully scheduled resources for placement in "{cluster}": picked by scheduling policy'
    )
    TAINT_KEY_VALUE = "taint &{{Key:{taint} Value:{taint_2} Effect:{effect}}} cannot be tolerated"
    TAKES_NONE_GOT = "it takes none, and got {args}"
    TARGET_NAMESPACE_NOT_EXIST_CLUSTER = "target namespace does not exist on cluster"
    TWO_SETS_DIFFERENT_FLEETS = "the two sets are of different fleets"
    UNHEALTHY_PROLONGED_PERIOD_TIME_LAST = (
        "{disconnected}unhealthy for a prolonged period of time (last transitioned {since} minutes ago)"
    )
    VIOLATED_DONOTSCHEDULE_TOPOLOGY_SPREAD_CONSTRAINT = (
        'violated doNotSchedule topology spread constraint "{key}" (max skew {max_skew})'
    )
    WITHOUT_EXPLAINS_RESULTS = "{name} has {whole} without {single}, which explains its results"
