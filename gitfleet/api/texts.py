"""Every sentence of gitfleet.api, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import FaultTable


class ApiText(FaultTable):
    """A code, and its sentence with the names of the values in it."""

    ABOUT_REPORTS_AGENT = "is about the reports of an agent; remove it, or set pull"
    ALREADY_LIST_KEEP_ONE_HEALTH = "is already in the list; keep one health check of a kind"
    AMONG_BRANCHES_GITFLEET_MAKES_REMOVES = (
        'is among the branches "{prefix}...", which gitfleet makes and removes; name another one'
    )
    AMONG_BRANCHES_GIVE_EACH_NAME = 'is among the branches "{one}"; give each of them a name of its own'
    ANOTHER_NAME = "another name of {item}"
    BEFORE_CAME_HERE = "before it came here"
    BEGINS_NAMES_RENAME = "begins as the names of {other} do ({prefix}); rename it"
    CANNOT_PERCENTAGE_PICKALL_PLACEMENT = "cannot be a percentage with a PickAll placement; write a number"
    CANNOT_STAND_BESIDE_NAME = "cannot stand beside a name; keep one of the two"
    CANNOT_UNWRAPPED = "{key} {place} cannot be unwrapped: {why}"
    CLUSTER_SCOPED_KIND_NAMESPACE = "a cluster-scoped kind in a namespace"
    COMPARED_LATER_STAGES = "is compared with later stages, and this is the last one; write Stage or Cluster"
    CONTRADICTS_EARLIER_REQUIREMENT = (
        'contradicts an earlier requirement on "{name}", so no cluster can match; remove one'
    )
    COUNTS_FEWEST_WRITE_MORE = "counts as {fewest_commits}, the fewest; write that or more"
    DATA_NOT_MAPPING = "its data is not a mapping"
    DECIDED_BEFORE_CAME_HERE = (
        "may have been decided before it came here, so nothing is done; to evict, write a new one without status"
    )
    DENIED_SPEC_POLICY_DENY_FLEETCONFIG = (
        "is denied by spec.policy.deny[{index}] of FleetConfig; remove it, or allow it there"
    )
    FIELD_JSON_POINTER = "the field, as a JSON pointer"
    FILE_COMMAND_GIVEN = "it is a file that a command is given"
    FILLED_SERVER_GITFLEET = "filled in by a server or by gitfleet; let through and not taken where people wrote it"
    GITFLEET_SCHEMA_LISTS_KINDS = "{meant}`gitfleet schema` lists the kinds"
    KIND_LISTED_TWICE = "is already in the list; keep one scope of a kind"
    LABELS_BELOW = "write labels below matchLabels"
    LIES_NAMESPACE_NOT_ENVELOPE_OWN = "lies in namespace {namespace}, not in the envelope's own"
    LIES_NAMESPACE_ONLY_CLUSTER_SCOPED = (
        "lies in namespace {namespace}, and only cluster-scoped objects may be wrapped here"
    )
    LONG_WINDOW_BEGINS_AGAIN_BEFORE = "is so long that the window begins again before it ends, each time; shorten it"
    MAKES_RESERVED_NAMESPACE = (
        "would make a reserved Namespace, which is never placed; remove it, or name another namespace"
    )
    MORE_PODS_LOWER_PERCENTAGES_ALL = "have more than 100% of the pods; lower the percentages to 100 in all"
    MORE_PODS_TARGETSIZE = "have more than {target_size} pods, which is targetSize; correct one of them"
    MOST_ITEMS_REMOVE_SOME = "may have at most {context} items; remove some"
    MOVE_BELOW = "move it below {field}"
    MUST_API_GROUP_VERSION = "must be an API group and version, such as apps/v1; correct it"
    MUST_API_GROUP_WITHOUT_VERSION = "must be an API group without a version, such as apps; correct it"
    MUST_APPROVAL_BEFORE_STAGE = "must be Approval before a stage; correct it"
    MUST_ALWAYS_OR_NEVER = "must be Always or Never; {end}"
    MUST_BEGINNING_BRANCH_NAME_ENDS = (
        "must be the beginning of a branch's name that ends in a slash, such as fleet/agents/"
    )
    MUST_EMPTY_OPERATOR_EXISTS = "must be empty with operator Exists; remove it"
    MUST_HEXADECIMAL_DIGITS_SNAPSHOT_HASH = (
        "must be the 64 hexadecimal digits of a snapshot's hash; copy it from the snapshot"
    )
    MUST_HTTP_HTTPS_URL_HOST = (
        "must be an http or https URL of a host, without a user, a password or a fragment; correct it"
    )
    MUST_JSON_POINTER_SPEC_REPLICAS = "must be a JSON Pointer such as /spec/replicas, a / in a name as ~1, to a field that does not say what the object is"
    MUST_KIND_TARGET = "must be {group_kind}, the kind of the target; correct it"
    MUST_LEAST_RAISE = "must be at least {context}; raise it"
    MUST_LEAST_RAISE_2 = "must be at least 1, or 1% to 100%; raise it"
    MUST_LEAST_ZERO_NO_CLUSTER = "must be at least 1 (or 1%): with zero no cluster could ever be updated; raise it"
    MUST_LIST_BEGIN_EACH_ITEM = "must be a list; begin each item with a dash"
    MUST_LOWER_CASE_LETTERS = "must be lower-case letters, digits, dashes and dots, at most {longest_name}; rename it"
    MUST_LOWER_CASE_LETTERS_DIGITS = "must be lower-case letters and digits only, 1 to 63; rename it"
    MUST_LOWER_CASE_LETTERS_DIGITS_DASHES = (
        "must be lower-case letters, digits, dashes and dots, at most 253; rename it"
    )
    MUST_LOWER_CASE_LETTERS_DIGITS_DASHES_DOTS = (
        "must be lower-case letters, digits, dashes and dots, at most 63; rename it"
    )
    MUST_LOWER_CASE_LETTERS_DIGITS_DASHES_MOST = "must be lower-case letters, digits and dashes, at most 63; rename it"
    MUST_MAPPING_FOLDERS_VARIANTS = "must be a mapping of folders and variants"
    MUST_MAPPING_TEXTS = "must be a mapping of texts with {keys}"
    MUST_MAPPING_WRITE_FIELDS_BELOW = "must be a mapping; write its fields below it"
    MUST_MAPPING_WRITE_KEY = "must be a mapping; write `key: value` below it"
    MUST_MORE_ROLLOUTSTRATEGY_DECREASEFIRST = "must be more than 0 with rolloutStrategy DecreaseFirst, which takes pods away before others come; raise it, or leave it out: then it is the size of the batch"
    MUST_MOST_DAYS_H = "must be at most 31 days (744h); shorten it, or write a Freeze with its dates"
    MUST_MOST_LAST_BATCH_COUNTED = "must be at most {last}, the last batch as counted from 0; lower it, or add batches"
    MUST_MOST_LOWER = "must be at most {context}; lower it"
    MUST_MOST_M = "must be at most 10m; shorten it"
    MUST_NAME_ANOTHER_FIELD_MANAGER = (
        "must be the name of another field manager than {field_manager} and {rollout_manager}, which are its own"
    )
    MUST_NAME_ANY_TEXT = "must be a name, with * for any text; use lower-case letters, digits, dashes and dots"
    MUST_NAME_GIT_TAKES_BRANCH = "must be a name that git takes for a branch, such as gitfleet/rendered; rename it"
    MUST_NAME_KIND = "must be the name of a kind, such as Deployment; correct it"
    MUST_NAME_LETTERS = "must be a name of letters, digits, _ and -; rename it"
    MUST_NAME_PLACEMENT_SAME_KIND = "must be only the name of a placement of this kind and namespace; correct it"
    MUST_NOT_ABOVE_MAX = "must not be above `max`; correct one of them"
    MUST_NOT_EMPTY_FILL = "must not be empty; fill it in"
    MUST_NOT_EMPTY_OPERATOR_EQUAL = "must not be empty with operator Equal; fill it in or use Exists"
    MUST_NOT_EMPTY_WRITE_INDEX = "must not be empty; write the index of a snapshot, such as 3"
    MUST_NUMBER_SNAPSHOT = 'must be the number of a snapshot, such as "0", of at most 18 digits; correct it'
    MUST_ONE = "must be one of {replace}; {end}"
    MUST_ONE_LINE_SSH_PUBLIC = (
        "must be one line of an SSH public key, as in a .pub file: its type, its base64 and a comment"
    )
    MUST_PRE_BATCH_ROLLOUT_POST = (
        "must be pre-batch-rollout or post-batch-rollout in a batch; correct it, or move the webhook to rolloutWebhooks"
    )
    MUST_SLACK_WEBHOOK = (
        "must be slack, webhook, email, or the name of an installed plug-in, which has a dot, such as example.pager"
    )
    MUST_STRING_PUT_QUOTES = "must be a string; put it in quotes"
    MUST_TEXT_PLACEMENT = "must be text: a placement, as name or namespace/name"
    MUST_TRUE_FALSE = "must be true or false, without quotes"
    MUST_WHOLE_NUMBER = "must be a whole number, without quotes"
    MUST_WHOLE_NUMBER_QUOTES = "must be a whole number in quotes"
    MUST_WHOLE_NUMBER_REMOVE_FRACTION = "must be a whole number; remove the fraction"
    NAMESPACEACCESSIBLE_NEEDS_EXACTLY_ONE_NAMESPACE = (
        "NamespaceAccessible needs exactly one Namespace selector; keep one"
    )
    NAMESPACED_KIND_NO_NAMESPACE = "a namespaced kind and has no namespace"
    NAMESPACE_RESERVED_CANNOT_PLACED = "is namespace {key}, which is reserved and cannot be placed"
    NAMES_CLUSTER_ALREADY_LIST = "names a cluster that is already in the list; remove it"
    NAME_ANOTHER_BRANCH = 'is the name of another branch, "{other}"; give each of them a name of its own'
    NAME_FOLDER_OR_PLACEMENT = "must name a folder or a placement; write one of the two"
    NEEDS_AVAILABLE_DURATION_NEVER_APPLY = "needs `available` (a duration or never) or `apply: fail`; add one"
    NEEDS_AVAILABLE_FAILED = "needs `available` or `failed`; add a CEL expression over the object"
    NEEDS_EXACTLY_ONE = "needs exactly one of {verbs}, and has {given}; correct it"
    NEEDS_EXACTLY_ONE_CONTEXT = "needs exactly one of context, kubeconfig, inCluster, pull and simulated; write one"
    NEEDS_EXACTLY_ONE_FILE_SECRET = "needs exactly one of file and secret; write one"
    NEEDS_EXACTLY_ONE_MAXUNAVAILABLE_MINAVAILABLE = "needs exactly one of maxUnavailable and minAvailable; write one"
    NEEDS_EXACTLY_ONE_NAMESPACE_SELECTOR = (
        "needs exactly one Namespace selector, by name; name it and remove the others"
    )
    NEEDS_EXACTLY_ONE_STATUS = "needs exactly one of status, fail and never; correct it"
    NEEDS_EXACTLY_ONE_VALUE = "needs exactly one of value, values, noData and fail; correct it"
    NEEDS_JSONPOINTERS_MANAGERS = "needs `jsonPointers` or `managers`; add the fields that are to be left alone"
    NEEDS_LEAST_ITEM = "needs at least {context} item(s); add one"
    NEEDS_LEAST_ONE_PATCH_OVERRIDETYPE = "needs at least one patch with overrideType JSONPatch; add one"
    NEEDS_LEAST_ONE_VALUE = "{operator} needs at least one value; add it"
    NEEDS_LEAST_ONE_WINDOWS = "needs at least one of windows, freezes and scope; write what it lifts"
    NEEDS_METRICSRANGE_SUCCESSCONDITION_FAILURECONDITION = (
        "needs `metricsRange`, `successCondition` or `failureCondition`; add one"
    )
    NEEDS_MIN_MAX = "needs `min` or `max`; add one"
    NEEDS_NAMESPACE = "needs spec.namespace; add it"
    NEEDS_REPLICAS_PODLIST = "needs `replicas` or `podList`; say how many pods, or which, the batch upgrades"
    NEVER_FILE = "never in a file"
    NOT_FIELD_TAKES = "is not what this field takes; see `gitfleet schema`"
    NOT_GO_OTHER_NAME_FIELD = "does not go with the other name of this field, which is there too; remove one of the two"
    NOT_GO_OVERRIDETYPE_DELETE = "does not go with overrideType Delete; remove it"
    NOT_GO_PICKALL_PLACEMENT = "does not go with a PickAll placement; use minAvailable with a number"
    NOT_GO_PLACEMENTTYPE = "does not go with placementType {placement_type}; remove it or change the type"
    NOT_GO_PODS_BOTH_REVISIONS = (
        "does not go with a {target_ref}, which has the pods of both revisions itself; remove it"
    )
    NOT_GO_REMOVE = "does not go with remove; remove it"
    NOT_GO_REPLICAS = "does not go with replicas; remove one of the two"
    NOT_GO_ROLLOUTBATCHES = "does not go with rolloutBatches; remove one of the two"
    NOT_GO_STRATEGY_TYPE_EXTERNAL = (
        "does not go with strategy type External, where a staged update run decides; remove it"
    )
    NOT_GO_TYPE = "does not go with type {name}; remove it"
    NOT_IN_NAMESPACE_PLACEMENT = "is not of namespace {home}, and ResourcePlacement {placement} places nothing else; use a ClusterResourcePlacement, or name the placement in spec.policy.allow of FleetConfig"
    NOT_JSON_PATCH = "is not a JSON patch: a list of {op, path, value}"
    NOT_KNOWN_FIELD = "is not a known field; {hint}"
    NOT_LATER_FROM = "is not later than `from`; correct one of them"
    NOT_LISTED = "a {kind} is not listed"
    NOT_LISTED_HERE = "not listed here: {numbers}; correct what is listed first"
    NOT_OBJECT = "is not an object: write apiVersion, kind and metadata as an API server takes them"
    NOT_PATH_FILE = "is not the path of a file"
    NOT_PATH_INSIDE_CONFIG_REPO = "is not a path inside the config repo"
    NOT_SUPPORTED_OVERRIDES = "is not supported in overrides; use labelSelector"
    NOT_VALID_LABEL_KEY = "is not a valid label key; use letters, digits and -_. with an optional dns.prefix/"
    NOT_VALID_LABEL_VALUE = "is not a valid label value; use at most 63 letters, digits and -_."
    NOT_VALID_PROPERTY_NAME = (
        "is not a valid property name; use letters, digits and -_. between slashes, and total-, allocatable- or "
        "available- after {prefix}"
    )
    NOT_VALID_TAINT_KEY = "is not a valid taint key; use letters, digits and -_."
    NO_BRANCH_HOLDS = "no branch holds a {kind}"
    NO_EFFECT_PLACEMENTTYPE_PICKALL = "has no effect with placementType PickAll; remove it or use PickN"
    NO_EFFECT_SAY_EACH_CLUSTER = (
        "has no effect; say of each cluster how it is reached (connection: {pull: true} for an agent)"
    )
    NO_KIND = 'there is no kind "{word}"'
    NO_LABELSELECTOR_SELECTS_NO_CLUSTER = "has no labelSelector, so it selects no cluster; add one, {} for all clusters"
    NO_NAMESPACE_ONLY_OBJECTS_ENVELOPE = (
        "has no namespace, and only objects of the envelope's own namespace may be wrapped here"
    )
    NO_PATH_OF_PATCH = (
        "is no path that an override may change, such as /spec/replicas: not apiVersion, kind or status, and of "
        "metadata only labels and annotations; correct it"
    )
    NO_TYPE_FIELD_DECLARATION = "{bare} is no type that a field of a declaration can have"
    OBJECT_EACH_API_SERVER_MAKES = "is an object that each API server makes for itself; name another"
    ONLY_GOES_APPLYSTRATEGY_TYPE_SERVERSIDEAPPLY = (
        "only goes with applyStrategy type ServerSideApply; remove it or change the type"
    )
    ONLY_GOES_KIND_NAMESPACE = "only goes with the kind Namespace; remove it"
    ONLY_REQUIRED_TERMS = "is only for required terms; use propertySorter, or move it to a required term"
    ONLY_SORTS_PREFERRED_CLUSTERS = "only sorts preferred clusters; move it to a preferred term"
    ONLY_TRUE_REMOVE = "can only be true; remove it"
    PLACEMENT = "{object} of placement {placement}"
    PLACEMENT_CLUSTER = "placement {placement} on cluster {cluster}"
    PODS_TARGETSIZE_CORRECT_ONE = "have {known} pods, and targetSize is {target_size}; correct one of them"
    QUARANTINED_OTHER_CONTENT_GOES_OUT = (
        "is quarantined by {name}{why}; other content goes out as always, and {lift} lets this one out"
    )
    QUARANTINE_LIFTED_TRUE = "its Quarantine with `lifted: true`"
    READ_ONLY_FILE_NAMED_FOLDER = (
        "is read only in a file named {helm_release_file} in a folder below resources/; move it there"
    )
    READ_ONLY_FOLDER_FILE = "is read only in a file named {folder_file}, in a folder below resources/; move it there"
    REQUIRED_ADD = "is required; add it"
    REQUIRED_EACH_TERM = "is required in each term; add it, or leave all terms out"
    REQUIRED_PLACEMENTTYPE_PICKN = "is required with placementType PickN; add how many clusters to pick"
    REQUIRED_TYPE_ANALYSIS = "is required with type Analysis; add a metric"
    REQUIRED_TYPE_TIMEDWAIT = "must be more than zero with type TimedWait; write a duration such as 1h"
    RESERVED_PLACE_ELSEWHERE = (
        "is reserved; place it elsewhere, or name the namespace in spec.policy.allow of FleetConfig"
    )
    SAYS_HOW_FOLDER_BUILT = "it says how a folder is built; ask for what is placed"
    SCALED_WOULD_UNDO_ROLLOUT = "scaled by {scaler}{where}, which sets the size itself; leave targetSize out"
    SELECTS_RESOURCE_ALREADY_LIST = "selects a resource that is already in the list; remove it"
    STANDS_TWICE_BATCHES = "stands twice in the batches; remove one"
    STANDS_TWICE_REMOVE_ONE = "stands twice; remove one"
    STANDS_TWICE_REMOVE_ONE_2 = "{task} stands twice; remove one"
    TAKEN_EARLIER_RENAME = "is taken by an earlier {what}; rename it"
    TAKES_NO_VALUES = "{operator} takes no values; remove them"
    TAKING_FILE_AWAY = "taking the file away"
    TARGETREVISION_NAME_SNAPSHOT_OLDER_CONTENT = (
        "is targetRevision; name the snapshot with the older content, or leave it out"
    )
    TARGET_NAME_WORKLOAD_OLDER_CONTENT = "is the target; name the workload with the older content, or leave it out"
    VARIANT_NEVER_MATCHES = 'matches every cluster, so variant "{name}" after it never matches; move it to the end'
    WHAT_IS_DONE = "what is done"
    WITHOUT_VALUE_PUTS_NULL = "{op} without a value puts null there; add the value"
    WRITE_ONE_MI = "{reason}; write one such as 2, 1.5 or 800Mi"
    YOU_MEAN = "did you mean {same_spelling}? "
    ZERO_PLACEMENT_LEAVES_CLUSTER_BEFORE = (
        "is zero, so a placement leaves a cluster before it reaches the next; raise it unless that is meant"
    )
