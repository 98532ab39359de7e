"""Every sentence of gitfleet.desired, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import FaultTable


class DesiredText(FaultTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_CORRECT_NAME = "add {metric_template} {key}, or correct the name"
    ANOTHER_NAMESPACE_THAN_ROLLOUT = "is another namespace than that of the rollout; write the rollout in namespace {namespace}, or allow it in spec.policy.crossNamespace of FleetConfig"
    ANSWERS_NO_HOLD = "answers no hold, since holds have no namespace; write ClusterApprovalRequest, without one"
    CANNOT_CHANGE_FROM = "cannot change from {before} to {after}; put it back, or {recreate}"
    CANNOT_CHANGE_ONCE_DECIDED = (
        "cannot change once it is decided; put it back, and write a new eviction under another name"
    )
    CANNOT_CHANGE_PUT_BACK = "cannot change; put {status_reporting_scope} back, or {recreate}"
    CANNOT_CHANGE_PUT_BACK_MAKE = "cannot change; put it back, and make a new request for another stage"
    CANNOT_CHANGE_RUN = "cannot change in a run; put it back and make a new run"
    CANNOT_CHANGE_WHILE_ROLLOUT_RUNS = "cannot change while the rollout runs; put it back, or change the target"
    CANNOT_GO_BACK_DAEMON_SET = "cannot be carried out: a DaemonSet makes pods of its newest template alone; leave it out, and give the template of before back in the manifest"
    CANNOT_GO_FROM = "cannot go from {transition} to {transition_2}; put it back, or make a new run"
    CANNOT_NAME_KIND = "cannot be the name of a kind; use a letter and then letters and digits"
    CANNOT_OBJECT_NAME = "cannot be an object's name; use letters, digits, dashes and dots"
    CANNOT_READ_FILE = "{problem}{hint}"
    CANNOT_READ_OBJECTS = "cannot be read as objects: {unreadable}"
    CANNOT_REMOVED_ONCE_SET = "cannot be removed once it is set, and it was {before}; put it back, or {recreate}"
    CANNOT_USED_SINCE = "cannot be used, since {why}"
    CLUSTERS_NOT_REFUSE_OBJECTS = "clusters that do not have it refuse its objects"
    CLUSTER_SCOPED_KIND = "{selector} is a cluster-scoped kind; select it in a ClusterResourcePlacement"
    COMMIT_MORE_FILES_READ = "the commit has more than {max_files} files to read; ignore some in {ignore_file}"
    CORRECT_ADD = "correct it, or add it"
    CORRECT_ADD_MANIFEST = "correct it, add its manifest, or say in `clusters` where it lives already"
    CORRECT_REMOVE = "correct it, or remove it"
    COULD_NOT_READ = "could not be read; split the file if it is large, or ignore it in {ignore_file}"
    DECRYPTS_SECRETS_IN_FILES = "says that the object is encrypted with SOPS, and gitfleet decrypts nothing but Secrets in files of their own: nothing in an envelope, or that kustomize or Helm made; write a Secret to such a file"
    DEFINED_SECOND_TIME = "is defined a second time, since {origin} already has it; remove one of the two"
    DEPENDENCY_CYCLE = "cycle {cycle}; remove one"
    ENCRYPTED_SOPS_SOPS_METADATA_MISSING = (
        "is encrypted with SOPS, and the `sops` metadata are missing; encrypt it again"
    )
    ENCRYPTS_MORE_DATA_STRINGDATA = "encrypts more than data and stringData ({place}), which nothing can be selected by; encrypt the file again with --encrypted-regex '^(data|stringData)$'"
    FILES_FOLDER_NOT_READ = (
        "does not use {files} beside it; name them here, move them to another folder, or ignore them in {ignore_file}"
    )
    FOLDER_IN_BUILT_FOLDER = "lies in a chart, or below a kustomization or release; move it to a folder of its own"
    FOLDER_NOT_BUILT = "the folder was not built; commit the built manifests, or ignore it in {ignore_file}"
    FOLDER_PLACED_WHOLE = (
        "holds back {count} without an error, because gitfleet places the folder as a whole; correct the others"
    )
    GITFLEET_WRITES_OBJECTS_KIND_ITSELF = (
        "gitfleet writes objects of this kind itself, on its state branch; remove the document"
    )
    GIT_LFS_POINTER = "is a Git LFS pointer, and gitfleet reads only what git itself stores; commit the file without LFS (`git lfs pull`, then `git lfs untrack`), or ignore it in {ignore_file}"
    GIVE_ARGS = "give it in args"
    HOLDS_VARIABLE_NOT_EXIST_GOES = "holds a variable that does not exist and goes out as it is written; write ${MEMBER-CLUSTER-NAME}, ${MEMBER-CLUSTER-LABEL-KEY-<label key>}, ${MEMBER-CLUSTER-ANNOTATION-KEY-<key>} or ${MEMBER-CLUSTER-PROPERTY-<name>}"
    HOOK_NOT_RUN = (
        "is not placed, as gitfleet does not run hooks of {hooks} on a {kind}; to place it, remove its hook annotation"
    )
    IF_NONE_GITFLEET_FILES = "; if it is none of gitfleet's files, ignore it in {ignore_file}"
    KIND_NEVER_PLACED = "is a kind that is never placed; remove the selector"
    KIND_YOU_MEAN = "names no kind that Kubernetes or the repo defines; did you mean {kind} of {api_version}?"
    KIND_NO_LONGER_SERVED = "is of no version of {kind} that Kubernetes {release} serves; remove the object"
    LABEL_DIFFERS_BY_VARIANT = (
        "reads a label that differs by variant; all variants of {key} are selected if one of them matches"
    )
    LOST_MANIFEST_STILL_LIE = "lost its manifest, and {first}{more} still lie in it, so it stays as it was; put the manifest back (with kustomize, list it under `resources`), or remove what lies in it too{near}"
    MATCHES_NONE = "matches no {word} in the repo; {hint}"
    MAC_ONLY_ENCRYPTED = "has mac_only_encrypted, so its MAC notices no change of name or namespace; encrypt the file without --mac-only-encrypted"
    MAKES_NEW_OBJECT_EACH_TIME = "makes a new object each time; give metadata.name instead"
    MORE_RULES_NOT_READ = "more than {most_rules} rules are not read, those from here on; write fewer"
    MOST_KIND_MERGE_REMOVE_SOME = "there may be at most {max_overrides} of this kind; merge or remove some"
    MOVED_ALREADY = (
        "is moved by {other} ({origin}) already; remove one of the two, or let `clusters` of each select other clusters"
    )
    MUST_BASE64_ENCODE = "must be base64; encode it, or use stringData in a Secret and data in a ConfigMap"
    MUST_HOLD_ONE_FOLDER = "must be the only document of this file, a Folder of gitfleet.dev/v1alpha1; move it"
    MUST_INTEGER_BITS = "must be an integer of {bits} bits, without quotes; correct it"
    MUST_INTEGER_STRING = "must be an integer or a string; correct it"
    MUST_LIST_CORRECT = "must be a list; correct it"
    MUST_LOWER_CASE_LETTERS = "must be lower-case letters, digits and dashes; correct it"
    MUST_MAPPING_CORRECT = "must be a mapping; correct it"
    MUST_MAPPING_NAME = "must be a mapping with a name; add it"
    MUST_MAPPING_STRINGS = "must be a mapping of strings; correct it"
    MUST_NUMBER_WITHOUT_QUOTES = "must be a number, without quotes; correct it"
    MUST_OBJECT_WRITE_APIVERSION = "must be an object; write apiVersion, kind and metadata"
    MUST_QUANTITY_M_GI = "must be a quantity such as 500m or 1Gi; correct it"
    MUST_STRING_ADD = "must be a string; add it, or put it in quotes"
    MUST_TRUE_FALSE = "must be true or false, without quotes; correct it"
    NAMES_NOT_REPO = "names a {kind} that is not in the repo; {hint}"
    NAMES_NO_MANIFEST_REPO = "names a {workload} that no manifest of the repo has; {hint}"
    NAME_NO_SERVER_TAKES = (
        "is refused by every API server as the name of a {kind}; use lower-case letters, digits, dashes{dots}, a "
        "letter or digit at both ends, at most {longest}"
    )
    NAMESPACE_DROPPED = "is dropped, since {kind} is a cluster-scoped kind; remove it"
    NAMESPACED_KIND_SELECT_NAMESPACE = (
        "{selector} is a namespaced kind; select its Namespace, or use a ResourcePlacement"
    )
    NAMES_NOTHING = "names nothing that there is; {meant}"
    NAMES_NO_AGE_RECIPIENT = (
        "names no age recipient, and gitfleet decrypts with age keys alone; add one with `sops updatekeys`"
    )
    NAMES_STAGE_RUN_NOT = "names a stage that the run does not have, so it answers nothing; {hint}"
    NAME_TOO_WORKLOAD_ROLLOUT = "is the name of {other} ({origin}) too, which is a workload rollout; rename one of them"
    NEEDS_BATCH_NOT_GO_WHILE = "needs batch {number}, which may not go while the rollout runs; put it back"
    NEVER_BEGINS_HERE = "it may have begun {began_elsewhere}, so it never begins here; add a new run, without status"
    NEVER_FOLLOWED_PUT_FILES_THEMSELVES = (
        "is a {what}, which is never followed; put the files themselves here, or ignore it in {ignore_file}"
    )
    NOT_AFTER_BATCH_LASTBATCHTOROLLOUT = "is not after batch {partition} (lastBatchToRollout), so it cannot change while the rollout runs; put it back, or change the target"
    NOT_FIELD_OF_RELEASE = "is not a field of Kubernetes {release}, and API servers refuse unknown fields; {hint}"
    NOT_GITIGNORE_PATTERN = (
        "is no gitignore pattern of at most {longest} characters of UTF-8; correct it or remove the line"
    )
    NOT_GO_CLUSTER_SCOPED_KIND = "does not go with {kind}, which is a cluster-scoped kind; remove it"
    NOT_GROUP_YOU_MEAN = "is not the group of {name}; did you mean {group}/{versions}?"
    NOT_KIND_GITFLEET_READS = "is not a kind of {group} that gitfleet reads; {hint}"
    NOT_MAPPING_NO_OBJECT = "is not a mapping, so it is no object; write apiVersion, kind and metadata"
    NOT_VERSION_GITFLEET_READS = "is not a version of {kind} that gitfleet reads; use {group}/{versions}"
    NOT_VERSION_YOU_MEAN = "is not a version of {groupkind}; did you mean {versions}?"
    NO_CONDITION_ANSWERS_NOTHING = (
        "has no condition {approved} that is True or False, so this answers nothing; add {condition}"
    )
    NO_CUSTOMRESOURCEDEFINITION_REPO = "is of no CustomResourceDefinition in this repo; {hint}"
    NO_FILE_MOST_BYTES = (
        "is no file of at most {max_file_bytes} bytes, so that none of its rules is read; put the rules here"
    )
    NO_KEY_API_SERVER_TAKES = "is no key that an API server takes: use letters, digits, -, _ and .; rename it"
    NO_KIND_WITHOUT_HANDLER = "is no kind that a rollout can move by itself ({kinds} are); correct it, or install a handler of {kind} where gitfleet runs"
    NO_KNOWN_KIND = "names no kind that Kubernetes or the repo defines; correct it, or add its definition"
    NO_KIND_ROLLOUT_MOVE = "is no kind that a rollout can move; name one of {kinds}"
    NO_NAMESPACE_MANIFEST_REPO = (
        "has no Namespace manifest in the repo; add one for {name} (with kustomize, list it under `resources`), "
        "write createNamespace: true in a {folder_file} with this namespace, or correct the name{near}"
    )
    NO_VARIABLE_QUERY = "is no variable of the query ({origin}); {hint}"
    ONLY_GAIN_ITEMS = "may only gain items, and one is changed or gone; put it back, or {recreate}"
    ONLY_RAISED_WHILE_ROLLOUT_RUNS = "can only be raised while the rollout runs, and it was {partition}; put that back"
    OTHER_OBJECT = " and {count}"
    OVERRIDES_NOTHING_SINCE_WRITTEN = (
        "overrides nothing, since {key} is written in {version}; write that, and its fields"
    )
    OVERRIDES_NO_OBJECT = "overrides nothing, since no {kind} has this name; {hint}"
    PATCHES_MISSING_FIELD = "{key} has no such field in git ({origin}), if only on API servers that fill it in; add the field as a whole, or remove this patch"
    PAYLOAD_NEEDS_NAMESPACE = "is required, since {kind} is a namespaced kind; add it, or give the whole folder one with spec.namespace in its {folder_file} (createNamespace: true makes the Namespace, too)"
    PINNED_ALREADY_REMOVE_ONE_TWO = "is pinned by {origin} already; remove one of the two"
    QUERY_NOTHING_GIVES = "has a query ({origin}) with {name}, which nothing gives; {hint}"
    READ_RESOURCE_PLACED = "is read as a resource to be placed, which gitfleet does not act on; move it to {home}, unless it is to be placed on clusters"
    READ_V1_LIST_LIST_ITEMS = "is read as a list with a list of `items`, and not within another; correct it"
    REMOVE_DOCUMENT_MOVE_RESOURCES_PLACED = "remove the document, or move it to resources/ to have it placed"
    REMOVE_OBJECT_ONE_COMMIT_ADD = "remove the object in one commit and add it again in another to change it"
    RENAMED_BY_ANOTHER = "names {old}, which {other} ({origin}) takes over; remove the annotation of one of the two"
    RENAMED_PLACEMENT_NAMED = "names {old}, which is still named in {places}; write {key} there in the same commit"
    RENAMED_PLACEMENT_THERE = "names {old}, which still has a file ({origin}); remove that file in the same commit"
    RENAMED_PLACEMENT_UNKNOWN = (
        "names {old}, which has no record, so nothing is taken over; correct the name, or remove the annotation"
    )
    REQUIRED_ADD_CONTEXT = "is required; add a context, a kubeconfig, inCluster, pull or simulated (docs/clusters.md)"
    REQUIRED_CLUSTER_SCOPED_KIND = "is required in a cluster-scoped kind; add that of the {metric_template}"
    REQUIRED_SINCE_NAMESPACED_KIND = "is required, since {kind} is a namespaced kind; add it"
    RESERVED_NAMESPACE_CANNOT_PLACED = "is a reserved namespace, which cannot be placed; name another"
    SAME_KEYS_AS_ANOTHER_ITEM = (
        "has the same {keys} as item {first}, and API servers refuse that; remove one of the two"
    )
    SAYS_IT_BEGAN = "says that {sentence}"
    SAY_THAT_IT = "say that it {elsewhere}"
    SCOPE_UNKNOWN = "nothing says whether it is namespaced; write metadata.namespace, or add the CRD of {kind} to the repo or its scope to spec.kinds of FleetConfig"
    SECOND_CONFIGURATION_BESIDE = "is a second configuration beside {origin}; keep one"
    SET_BY_SCALER_TOO = "is a number that {scaler} sets, too: each apply takes it back; remove the field"
    SELECTS_NO_KIND = "selects nothing, since no {kind} is in the repo; add one, or correct the kind"
    SELECTS_NO_LABELS = "selects nothing, since no {kind} has these labels; correct it, or add them"
    SELECTS_NO_NAME = "selects nothing, since no {kind} has this name; {hint}"
    SELECTS_RESOURCE_ALREADY_OVERRIDES = "selects a resource that {taken} already overrides; keep it in one of the two"
    TOO_MANY_VARIANTS = "the Folders of the repo have more than {most} variants; remove some"
    VARIANT_HOLDS_FOLDER = "contains the Folder file {file}; name a folder without one"
    VARIANT_HOLDS_GITFLEETS = "contains {file}, which gitfleet itself acts on; name a folder without such files"
    VARIANT_PATH_NOT_BUILT = (
        "names the folder of this file, which has no kustomization.yaml or gitfleet-helm.yaml; name another one"
    )
    VARIANT_PATH_NO_FOLDER = (
        "{path}, from this file on, is no folder of this repo, or ignored in {ignore_file}; correct it, or add it"
    )
    VARIANT_WITHOUT_OBJECTS = (
        "has no manifests, so that its clusters get nothing of this Folder; correct the path, or add them"
    )
    VERSION_NO_LONGER_SERVED = "is not served by Kubernetes {release}; write {api_version}"
    YOU_MEAN_2 = "; did you mean {near} ({made}:{line})?"
