"""Every sentence of gitfleet.loop, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class LoopText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ACCEPTED_LAST = "what was accepted last"
    ACCEPTED_LAST_COMMIT = "what was accepted last (commit {older})"
    ADD_HAND_GITFLEET_APPROVE = "add {path} by hand or with `gitfleet approve`, or let gitfleet push this branch"
    ADD_ONE_LEAVE_NOTIFY_OUT = "add one, or leave --notify out"
    AGAIN_AFTER_EACH_APPLY = "it {what} again after each apply, {times} times since {time_text}; {names} on {cluster} {does} it; the next apply is at {time_text_2}"
    AGENT_MAKES_FIRST_REPORT = "The agent makes it with its first report; is the name right?"
    AGENT_NOT_ANSWERED = "the agent has not answered on {found}"
    AGENT_NOT_REPORTED_SINCE = "its agent has not reported since {time_text}, as its clock has it"
    AGENT_NOT_SEEN_LAST_DELIVERY = "the agent has not seen its last delivery on {unseen}"
    AGENT_REPORTS_NOT_YET = "its agent reports at {time_text}, which is not yet: set its clock"
    ALLOWEDSIGNERS_NAMES_NO_FILE_MOST = (
        "{path}, which allowedSigners names, is no file of at most 1 MiB in commit {commit}"
    )
    ANOTHER_CLUSTER = 'it is for another cluster, "{cluster}"'
    ANOTHER_PROCESS_MOVED_STATE_BRANCH = "another process moved the state branch first; observing again"
    ANSWERED_OTHERWISE = "nothing was pushed: another file of the watched branch rejects {name}"
    ANSWERS_NOT = "{host} answers {status} and not {expected}{why}"
    ANSWER_CANNOT_COUNT = "nothing was pushed, since this approval cannot count: it {why}"
    ANSWER_NOT_READ = "nothing was pushed: the commit has no answer to {name} that gitfleet reads"
    ASKS_FUNCTION_NO_FUNCTIONS_RUN = "asks for a function, and no functions run"
    BEFORE_BRANCH_APPROVAL_MOVED = "before a branch for approval is moved"
    BEFORE_BRANCH_DELIVERIES_MOVED = "before a branch for deliveries is moved"
    BEFORE_CACHE_WRITTEN = "before the cache is written"
    BEFORE_CLUSTER_WRITTEN = "before a cluster is written to"
    BEFORE_RENDERED_BRANCH_PUSHED = "before the rendered branch is pushed"
    BEFORE_STATE_BRANCH_PUSHED = "before the state branch is pushed"
    BRANCHES_DELIVERIES_THOSE_MEMBERS_BEGIN = (
        "The branches of deliveries and those of members begin alike; give each a name of its own."
    )
    BRANCH_APPROVAL_MOVED = "branch for approval moved"
    BRANCH_ASKS_APPROVAL = "the branch {branch}, which asks for an approval, cannot be kept: {error}"
    BRANCH_CANNOT_READ = "the branch {rendered} cannot be read, {reason}; it is written again"
    BRANCH_COMMITS_SOMEBODY_ELSE = "the branch {rendered} has commits of somebody else, which gitfleet undoes"
    BRANCH_COMMITS_SOMEBODY_ELSE_GITFLEET = (
        "the branch {branch} has commits of somebody else, so gitfleet leaves it alone"
    )
    BRANCH_DELIVERIES_CANNOT_READ = "a branch for deliveries cannot be read, and is written again: {error}"
    BRANCH_DELIVERIES_MOVED = "branch for deliveries moved"
    BRANCH_HOLDS_SOMEBODY_ELSE_COMMITS = "the branch \"{rendered}\" holds somebody else's commits, and none of gitfleet's: remove it, or name another one in spec.branches.rendered"
    BRANCH_HOLDS_SOMETHING_ELSE = "that branch holds something else"
    BRANCH_MOVED_OTHERS_ALL_TIME = (
        "The branch {branch} of {shown} is moved by others all the time; import {shown_2} again."
    )
    BRANCH_NO_CLUSTER_NEEDS_ANY = "the branch {branch}, which no cluster needs any more, cannot be removed: {error}"
    CALL_ROLLOUT_WAITS = "a call of a rollout waits, as no thread can be started: %s"
    CANNOT_BRANCH_HOLDS_SOMETHING_ELSE = 'it cannot be the branch "{rendered}", which holds something else'
    CANNOT_BUILT_HELM_SAYS_NOT = "cannot be built, and what helm says is not shown, because what may be a secret value is in it; run `helm template` to see it"
    CANNOT_BUILT_KUSTOMIZE_SAYS_NOT = "cannot be built, and what kustomize says is not shown, because a value of a Secret is in it; run `kustomize build {folder}` to see it"
    CANNOT_BUILT_MUST_LIST = "cannot be built: {key} must be a list"
    CANNOT_BUILT_MUST_LIST_MAPPINGS = "cannot be built: {key} must be a list of mappings"
    CANNOT_BUILT_MUST_LIST_STRINGS = "cannot be built: {key} must be a list of strings"
    CANNOT_BUILT_OPENAPI_PATH_NOTHING = "cannot be built: openapi may have a path and nothing else"
    CANNOT_NAME_CLUSTER = "{cluster!r} cannot be the name of a cluster."
    CANNOT_PUSHED = "what {name} is to do cannot be pushed to {branch}: {error}"
    CANNOT_READ = "cannot be read: {error}"
    CANNOT_READ_2 = "cannot be read, {reason}"
    CANNOT_READ_3 = "{file} cannot be read: {strerror}"
    CANNOT_READ_LINE = "cannot be read: line {line}: {message}"
    CANNOT_READ_PUT_COMMIT_TOP = "cannot be read, {reason}: put a commit on top of it that is sound"
    CANNOT_RENDERED_NOW = "{lost} cannot be rendered now, and what the branch had of it is not known"
    CHANGED_AGENT_ALONE = "{cluster} is changed by its agent alone"
    CHECK_CLUSTER_CONTEXT = (
        "check --cluster and --context; where the cluster was set up again, remove that branch first"
    )
    CHOOSES_NO_CLUSTER = '{option} "{selector}" chooses no cluster'
    CLUSTER_WRITTEN = "cluster written to"
    COMMIT_CANNOT_READ_ANY_MORE = "{fault}; that commit cannot be read any more"
    COMMIT_REFUSED_WHOLE = "commit {commit} {refusal}; it is refused as a whole, and {accepted} goes on"
    COMMIT_WHERE_REMOTE = "commit to {watch} and, where there is a remote, push; `gitfleet init` lays a first fleet out"
    CONFIGURATIONS_SEND_WATCH_EACH_OTHER = 'the configurations on "{watch}" and "{other}" send the watch to each other'
    CORRECT_CONDITION_SAYS = "correct what its condition says, or push the last commit of that branch back"
    CORRECT_HOLDS_MEMBERCLUSTERS_IF = "correct {path}: it holds MemberClusters for a what-if"
    DELIVERY_EXECUTOR_PROCESS = (
        "delivery.executor is {executor} and this process {given}, so it asks clusters itself: {hint}"
    )
    DELIVERY_NOT_CARRIED_OUT = "the delivery {head} is not carried out: {error}"
    DISK_MACHINE_FULL = "a disk of this machine is full"
    EARLIER_CALLS_NOT_RETURNED = "{stuck} earlier calls to {host} have not returned"
    ENCRYPTED_MORE_DATA_STRINGDATA_SECRETS = "is encrypted in more than the data and stringData of Secrets"
    ENCRYPTED_NOTHING_DECRYPTED_HERE = "is encrypted, and nothing is decrypted here"
    ENCRYPTED_SOPS_NOTHING_DECRYPTED_HELM = (
        "{encrypted} is encrypted with SOPS, and nothing is decrypted for Helm; name a plain file"
    )
    ENCRYPTED_VALUE_NO_TEXT_PUT = "has an encrypted value that is no text (put it in quotes) or of another object"
    END_RECONCILE = "end of a reconcile"
    EVERY_RESTART_SET_VALUES_MAKE = (
        "{sentence} every restart; set the values that make random texts or times unnecessary"
    )
    EXECUTOR_FAILED = "the executor {name} failed: {why}"
    EXECUTOR_GAVE_SOMETHING_ELSE = "the executor {name} gave something else"
    EXECUTOR_NOT_ANSWERED_WITHIN = "the executor {name} has not answered within {patience:g} s"
    EXECUTOR_TAKES_NO_WORK = "the executor {name} takes no work: {why}"
    EXPORT_AGAIN_HUB_SIDE = "Export it again at the hub's side."
    EXPORT_AGAIN_SITE = "Export it again at the site; if its clock was set back, delete {branch} in {shown} once."
    FACTORY_MADE_NOT_DERIVE_FROM = "its factory made a {name}, which does not derive from WorkloadHandler"
    FIELD_KUSTOMIZE_NOT_KNOW = 'has the field "{unknown}", which kustomize does not know; remove it'
    FIELD_KUSTOMIZE_NOT_KNOW_REMOVE = 'has the field "{unknown}" in {key}, which kustomize does not know; remove it'
    FIELD_WRITE = 'has the field "{key}"; write {meant}'
    FILES_MOST_READ = "has {files} YAML and JSON files, and at most {most} are read: {few}"
    FLEETCONFIG_COMMIT_CAME_BEFORE = "the FleetConfig of commit {commit}, which came before it, has errors"
    FLEET_RECONCILED_ALL_SAME = "{error}; {until}, the fleet is reconciled all the same"
    FOLDERS_STILL_BUILT = "still being built: {names}"
    FOLDER_TOO_REMOVE_ONE_TWO = "{path} is there as a folder too; remove one of the two"
    FOLLOWS_WHSEC_NO_BASE64 = "{where}: what follows whsec_ is no base64"
    GAVE_NOT_MEASUREMENTSTATE = "gave a {name} and not a MeasurementState"
    GAVE_NO_TIME_LOOK_AGAIN = "gave no time to look again"
    GAVE_NO_TUPLE_VALUES = "gave no tuple of 1 to {most_values} values"
    GAVE_OUTCOME_MESSAGE_NONE = "gave an outcome or a message that is none"
    GAVE_VALUE_NO_NUMBER = "gave a value that is no number"
    GITFLEET_BEING_STOPPED_WHILE_CLUSTERS = "gitfleet is being stopped while clusters have not answered"
    GITFLEET_ONE_ITSELF = "gitfleet has one for {of_kind} itself"
    GIT_REMOTE_CANNOT_ASKED_NOW = "the git remote cannot do what it is asked now"
    GIT_REMOTE_NOT_ANSWER_SHOULD = "the git remote does not answer as it should"
    GIT_REMOTE_NO_REPOSITORY = "the git remote has no such repository"
    GIT_REMOTE_REFUSES_CREDENTIALS = "the git remote refuses the credentials, or what they may do"
    GIT_REMOTE_REFUSES_SENT = "the git remote refuses what it is sent"
    GIVEN_NONE = "was given none"
    GIVES_NO_ANSWER_WITHIN = "{host} gives no answer within {timeout_seconds:g} s"
    GIVE_NAME_MEMBERCLUSTER = "Give the name of the MemberCluster: lower-case letters, digits, dashes and dots."
    GIVE_SPEC_CONNECTION_CONTEXT = (
        "give spec.connection a context, a kubeconfig, inCluster, pull or simulated (docs/clusters.md)"
    )
    HELM_CHART_NOTHING_RENDERS = "is a Helm chart that nothing renders: add a {helm_release_file} (kind HelmRelease) to its folder, or ignore the folder in {ignore_file}"
    HISTORY_NOT_SHORTENED = "the history of %s is not shortened: %s"
    HOLDS_NO_KUSTOMIZATION_YAML = "{folder} holds no kustomization.yaml"
    HOLDS_NO_MEMBERCLUSTER = "{path} holds no MemberCluster"
    HOLDS_NO_REPORT_AGENT = "{shown} holds no report of an agent: its commit {commit} has parents."
    HOLDS_NO_REPORT_AGENT_NO = "{shown} holds no report of an agent: {path!r} is no file of one."
    HOLDS_NO_STATE_GITFLEET = "holds no state of gitfleet"
    HOLDS_NO_WEBHOOK_SECRET = "{where} holds no webhook secret: one on each line, of {shortest} characters at least"
    HOOKS_GITFLEET_NOT_RUN = "has hooks, which gitfleet does not run: {asked}; write"
    HUB_MAKES_CLUSTER_REACHED_AGENT = "The hub makes it for a cluster that is reached by an agent; is the name right?"
    IF_HUB_BEGUN_BRANCH_AGAIN = (
        "If the hub has begun its branch again, delete {branch} in {shown} and import the file again."
    )
    INLINE_NOT_USED = "has inline {key}, which are not used; put each into a file of the repo and name that"
    IT_HAS_NO = "it has no {report_file}"
    KEEPS_NO_LONGER_SELECTS = "keeps what it no longer selects"
    KIND_NOT_USED_HERE = (
        "is of a kind that is not used here; only kustomize's own generators and transformers run, and no helm"
    )
    KUSTOMIZE_NOT_RENDER_HERE = (
        "has {key}, which kustomize does not render here; write a gitfleet-helm.yaml (docs/config-repo.md)"
    )
    LACKS_GITFLEET_WROTE = "lacks {count} that gitfleet wrote ({missing}, say)"
    LARGER_BYTES = "its {report_file} is larger than {largest_report} bytes"
    LAST_RECONCILE_FAILED = "the last reconcile failed: {why}"
    LAST_RECONCILE_FAILED_2 = "the last reconcile failed"
    LEADER_ELECTION_GOES_TRYING = "{sentence}; leader election goes on trying"
    LEADING_HELD = "leading: {lease} is held by {identity}"
    LEADS_OUT_REPO = "leads out of the repo; name a folder of it"
    LET_SPEC_BRANCHES_WATCH_SAY = "let spec.branches.watch say the same on both, or name the branch with --branch"
    LIES_MORE_CHARTS_DEEP = "{path} lies more than {deepest} charts deep"
    LOOP_WOKEN = "the loop is woken"
    MAKE_ONE_OPENSSL_RAND_HEX = "make one with `openssl rand -hex 32`, and give the same to the forge"
    MEMBERCLUSTER_NO_CONNECTION = "{where}MemberCluster/{cluster} has no connection"
    MESSAGE_DROPPED = "message {id} is dropped"
    MORE_FILES_MIB = "has more than {most_files} files or {most_bytes} MiB, its subcharts unpacked"
    MOVED_ANOTHER_PROCESS = "{state} was moved by another process"
    MUST_HOLD_ONE_OBJECT = "must hold one object, of apiVersion {api_version} and kind HelmRelease"
    MUST_ONE_YAML_DOCUMENT_FIELDS = "it must be one YAML document with the fields of spec.approvals"
    NAMES_NOT_REPO = "names {target}, which is not in the repo"
    NAMES_NO_FILE_REPO = 'names "{name}", and {target} is no file of this repo'
    NAMES_NO_NAME_FOLDER_CHART = "names {chart}, which has no {chart_file}; name the folder of a chart in this repo"
    NAMES_NO_ORDINARY_FILE = "names {target}, which is no ordinary file"
    NAMES_ONLY_FILES_REPO_BUILT = 'names "{reference}": only files of this repo are built, nothing is fetched'
    NAMES_PATH_NO_BRACES = (
        'names "{reference}": a path has no braces; rename the file, or write an inline patch on several lines'
    )
    NAMES_PLUG_CONFIGURATION = "names {target} as a plug-in's configuration, which must be a file of this repo"
    NAMES_WHERE_NO_FILE = "names {chart}, where {linked} is no file"
    NAME_CLUSTER_LABEL_KEY_VALUE = (
        "name a cluster, or a label as key=value; `gitfleet get clusters` lists what there is"
    )
    NAME_ENDS_WAY_GIT_TAKES = "its name ends in a way that git takes in no name of a branch: rename it"
    NEXT_RECONCILE_LATE = "the next reconcile is {now:.0f} s late"
    NOBODY_TOLD_NOTIFICATION = "nobody is told by notification %s: no --notify %s=FILE says where it is"
    NOTHING_CLUSTER = "{name} has nothing on a cluster {cluster}"
    NOTHING_NEW_HEAD_HAPPENS_BEFORE = (
        "nothing of the new head happens before it is accepted: push {old} back, or `gitfleet approve {name}`"
    )
    NOTHING_PATH = "there is nothing at this path"
    NOTIFICATIONS_DELIVERED_AGAIN = "notifications to %s are delivered again"
    NOTIFICATION_FLEET_RECONCILED_ALL_SAME = "notification %s: %s; %s, the fleet is reconciled all the same"
    NOTIFICATION_PROCESS_ENDS_BEFORE_ALL = "notification %s: the process ends before all is delivered"
    NOTIFY_SPEC_NOTIFICATIONS_NO_DESTINATION = "--notify %s: spec.notifications has no destination of that name; %s"
    NOT_ANSWER_WITHIN = "{name} did not answer within {timeout:g} s"
    NOT_ANY_MORE_ENCRYPTED = "is not there any more as it was encrypted"
    NOT_APPLIED = "{operation} was not applied: {why}"
    NOT_ASKED_TIME_EXECUTOR = "{name} was not asked in time by the executor {name_2}"
    NOT_ASKED_WITHIN = "{name} was not asked within {timeout:g} s, since other clusters took so long"
    NOT_BUILT_BECAUSE_CANNOT_READ = "was not built, because {user} cannot be read and may build on this folder"
    NOT_BUILT_SINCE_FOLDER_KUSTOMIZATION = (
        "is not built, since its folder has a kustomization too; move one of them to a folder of its own"
    )
    NOT_CHART_FILE = "not a chart's file"
    NOT_COUNT = "{replace}, so it does not count"
    NOT_GO_FROM = "{shown} does not go on from what {shown_2} has ({at}): it was never before {commit}."
    NOT_MOVED_PROCESS_NOT_LEAD = "{branch} is not moved: this process does not lead any more"
    NOT_NEWER_REPORT = "{shown} is not newer than the report that {shown_2} has: {at} against"
    NOT_ONE_YAML_OBJECT = "is not one YAML object"
    NOT_RELEASED = "is not released"
    NOT_RETURN_WITHIN = "{what} did not return within {timeout:g} s"
    NOT_RETURN_WITHIN_EARLIER = "{stalled} did not return within {timeout:g} s earlier"
    NOT_TRIED_AGAIN = "not tried again"
    NO_AGENT_REPORTED_BRANCH_YET = "no agent has reported on the branch {branch} yet: {how}"
    NO_APPROVAL_POLICY = "{shown} is no approval policy: {faults}"
    NO_APPROVAL_POLICY_2 = "{shown} is no approval policy: {place} {sentence}"
    NO_ARCHIVE_READ = "{path} is no archive that can be read; package the chart again"
    NO_BRANCH = "{shown} has no branch {branch}."
    NO_BRANCH_YET = "there is no branch {needed} yet: the hub has delivered nothing to this cluster"
    NO_CLUSTERS = "it has no clusters"
    NO_COMMIT_KNOWN_ADDED = "no commit is known that added it, and that no later one undid"
    NO_CONFIGURATION_KUSTOMIZE_OWN_PLUG = (
        "is no configuration of kustomize's own plug-ins (apiVersion: builtin); no other one runs"
    )
    NO_JSON_READ = "{path} is no JSON that can be read"
    NO_LEADER_ELECTION = "%s; there is no leader election"
    NO_MORE_UNTIL_TOKEN_CHANGES = "no more {kind} until the token changes or gitfleet starts again"
    NO_ORDINARY_FILE = "is no ordinary file; put the HelmRelease itself here"
    NO_ORDINARY_FILE_2 = "is no ordinary file"
    NO_RECONCILE_SUCCEEDED_YET = "no reconcile has succeeded yet"
    NO_SNAPSHOT = "{name} has no snapshot {index}"
    NO_TIME_ASK = "there was no time to ask {left}, which the next pass does first"
    OBJECTS_MORE_BYTES_TOGETHER = "its objects have more than {largest_objects} bytes together"
    OBJECTS_SNAPSHOT_NOT_ALL_BRANCH = "the objects of snapshot {snapshot} are not all on the branch"
    OBJECTS_SNAPSHOT_NOT_KEPT_ANY = "the objects of snapshot {index} of {name} are not kept any more"
    OBJECT_WITHOUT_NAME = "an object without a name"
    OLDER_WENT_FROM = "{shown} is older than what {shown_2} has: {branch} went on from {at}"
    OPERATIONS_ANOTHER_FORM_HUB_GIVES = "it has operations of another form than a hub gives them"
    ORDER_OBJECTS = "the order of objects"
    PROCESS_ENDING = "the process is ending"
    PROGRAM_FILE_FOLDER_MISSING = "a program, a file or a folder is missing, or cannot be used"
    PUSH_LAST_COMMIT_GITFLEET_MADE = (
        "push the last commit that gitfleet made there back, or delete the branch to start again"
    )
    REACHED_AGENT_MAKES_NO_DRY = "{cluster} is reached by its agent, which makes no dry runs"
    REACHED_OWN_AGENT = "{cluster} is reached by its own agent, which needs a git remote (no --state-dir)"
    RECONCILE_UNDER_WAY = "a reconcile has been under way for {now:.0f} s"
    RECONCILING_AGAIN_AFTER = "reconciling again after %s"
    RECONCILING_AGAIN_AFTER_FAILURES = "reconciling again after {failed} failures"
    RECONCILING_FAILED_TIMES_ROW = "reconciling has failed {failed} times in a row"
    REDIRECTS_ANOTHER_ADDRESS = "{host} redirects to another address ({status}), which is not followed: name that one"
    REFERS_NOTHING_FETCHED = '{path} refers to "{value}"; nothing is fetched, copy it to below $defs of the schema'
    REMOVE_FILES_IGNORE_OTHERS = "remove files, or list those that are not for gitfleet in {ignore_file}"
    REMOVE_THAT_ANSWER = "remove that file, or change its status"
    RENDERED_BRANCH_CANNOT_WRITTEN = "the rendered branch {rendered} cannot be written: {error}"
    RENDERED_BRANCH_PUSHED = "rendered branch pushed"
    RENDERS_SOMETHING_ELSE_EACH_TIME = (
        "{chart} renders something else each time, in {named}, which would be rolled out at"
    )
    REPORTED_ANOTHER_CLUSTER_ONE_AGENT = "{needed} was reported by another cluster than the one that this agent reaches"
    REPORTING_AGAIN_AFTER = "reporting again after %s"
    REPORT_BRANCH = "the report on the branch {branch} {error}"
    REPOSITORY_NO_BRANCH = 'the repository has no branch "{watch}"; it has {named}'
    REPOSITORY_NO_COMMIT_ANY_BRANCH = "the repository has no commit on any branch yet"
    REQUEST_REFUSED_SIGNATURE_MISSING_WRONG = "a request to {request} was refused: its signature is missing or wrong"
    REWRITTEN_NOT_COME_AFTER = "{branch} was rewritten: {new} does not come after {old}, which is reconciled on"
    RUN_EXECUTOR_NAME_ADDRESS_GIVES = "run --executor NAME=ADDRESS gives it one"
    RUN_GITFLEET_AGENT_CLUSTER = "run `gitfleet agent --cluster {cluster}{named}`"
    SCHEMA_USE_ONE_JSON_SCHEMA = '{path} is a schema of "{value}"; use one of json-schema.org'
    SECRET_WEBHOOK_CANNOT_READ = "the secret of this webhook cannot be read"
    SEE_IGNORE_RULES = "let .gitfleetignore leave the folder approvals alone"
    SERVER_FILLED_NOT_KNOWN_ALL = (
        "what the server filled in on {} is not known of all objects yet, and the next pass asks"
    )
    SIGNATURE_MISSING_WRONG = "the signature is missing or wrong"
    SIGN_COMMITS = "sign with a key of allowedSigners: set commit.gpgSign, gpg.format and user.signingKey with `git config --global`, or in the clone that -C names; no other settings are read"
    SPEC_CHART_MORE_MIB = "spec.chart: {chart} has more than {most_bytes} MiB"
    SPEC_HOOKS_APPLY_PLACE_LIKE = (
        "{sentence} spec.hooks: Apply to place them like any other object, or Skip to leave them out"
    )
    STANDING_HELD = "standing by: {lease} is held by {holder}"
    STANDING_NOT_RENEWED_TIME = "standing by: {lease} was not renewed in time"
    START_RECONCILE = "start of a reconcile"
    STATE_BRANCH_COMMIT = "the state branch's commit {head} {why}, and no commit before it can be used in its place; nothing is changed on any cluster until that is put right"
    STATE_BRANCH_GONE = "the state branch's {fleet_file} is gone"
    STATE_BRANCH_LACKS_ENTRIES = "the state branch's {faults_file} lacks entries"
    STATE_BRANCH_NO_PLAIN_FILE = "the state branch's {path} is no plain file"
    STATE_BRANCH_PUSHED = "state branch pushed"
    STAYS_WITH = "{failed} stays with {holders} {holders_2}"
    STILL_BUILT = "takes long to build; its last good version holds until it is built"
    STILL_BUSY_EARLIER_CALL = "{name} is still busy with an earlier call"
    TOO_LARGE_CUT_OFF = "too large, or cut off"
    TOO_LARGE_READ = "is too large to be read"
    TOO_LARGE_READ_2 = "{missing} is too large to be read"
    TOO_MANY_FILES = "too many files"
    TOO_MANY_REQUESTS = "too many requests"
    TRIED_AGAIN_ITSELF = "{sentence}{hint}; it is tried again by itself, and the fleet is reconciled all the same"
    TRIED_AGAIN_LATER = "tried again later"
    TRYING_AGAIN_G = "%s; trying again in %g s"
    TRYING_AGAIN_LATER = "{known}; trying again later, the fleet is reconciled all the same"
    UNTIL_OBJECTS = " until {other} {other_2} has its objects there"
    VALUES_ENCRYPTED_NO_SERVER_ASKED = "its values are encrypted, and no server is asked about such a manifest"
    WAITS_RUN_ADD_ONE_GITFLEET = ", and it waits for a run: add one (`gitfleet explain {other}`)"
    WATCH_ANOTHER_ONE_BRANCH = "watch another one with --branch {others}, or rename it: git branch -m {others} {watch}"
    WHETHER_PROCESS_RECONCILES_STANDS = "Whether this process reconciles (1) or stands by (0)"
    WHOLE_FLEET = "of the whole fleet"
    WHO_MAY_APPROVE = "spec.approvals of the FleetConfig says who may approve; where `gitfleet run` has --approval-policy, give it here too"
    WORKLOAD_HANDLER_CANNOT_USED = "workload handler %s cannot be used: %s"
    WRITE_ONE_MORE_MEMBERCLUSTER_DOCUMENTS = "write one or more MemberCluster documents into it"
    WRITTEN_ANOTHER_WAY_TIMES = "it was written another way {most_edits} times; approve again"
