"""Every sentence of gitfleet.cli, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class CliText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_NEW_RUN_GO = "add a new run to go on"
    ALLOWED_HOST_NO_HOST = "{option} {given} is no HOST or HOST:PORT, such as hooks.example.com, *.example.com or prometheus.monitoring:9090"
    ALL_WAITS_FROZEN_LONGER = "all that waits is frozen for longer than {timeout:g} s: `gitfleet get freezes`"
    ALREADY_HAS = "{resolve} already has a gitfleet.yaml"
    ALREADY_NOTHING_COMMITTED = "{branch} has it already; nothing is committed"
    APPLIED_NOT_AVAILABLE = "applied, not available"
    BASE_ASKS_NO_CLUSTER = "--base counts what a commit has as there: it cannot go with --clusters {clusters}"
    BLOCKED_CHANGES_NOTHING = "blocked: {placement} changes nothing on {tuple}: {message}"
    CANNOT_READ = "{shown} cannot be read: {strerror}"
    CANNOT_ROLLED_OUT = "{count} cannot be rolled out"
    CANNOT_USED = "{directory} cannot be used: {strerror}"
    CANNOT_WRITTEN = "{file} cannot be written: {strerror}"
    CHANGE_POLICY_ADD_TAINT_CLUSTER = "change its policy, or add a taint to the cluster"
    CHOOSE_ANOTHER_FOLDER = "choose another folder; --ci adds checks of pull requests to this fleet"
    CLUSTERS_STILL_MOVING = "clusters are still moving"
    CLUSTER_IS = "The cluster is {row}: {row_2}"
    COMMENT_PULL_REQUEST = "comment on pull request {number} of {repository}: {done}"
    COMMITTED_AS_BY = "committed to {branch} as {commit} by {email}{merge}"
    COMMIT_HAS = "the commit has {count}"
    CONDITIONS_ARE = (
        "there are errors, unreachable, held, create>N, refuse>N, scaleDown>N, update>N%, delete>N%, leave>N%; and none"
    )
    CONFIG_REPO_ONE_COMMIT_MAIN = (
        "The config repo is {repo}: one commit on main with clusters, placements, overrides and resources."
    )
    CONTINUOUS_RUN_NOT_ONCE_UNTIL = "{which} with a continuous run, not with --once or --until-settled"
    CREATE_MAKES_REPOSITORY_PATH = "--create makes a repository at a path, and REPO is a URL"
    DEFECT_GITFLEET = "This is a defect of gitfleet {version}; {where}"
    DIV_CLASS_ROW_SPAN_CLASS = '<div class="row"><span class="name">{escape}</span><span class="bar">{bar}</span></div>'
    EDIT_COMMIT_FILE = "Edit and commit a file in {where}, then:"
    ERRORS_KEEPS_LAST_GOOD_VERSION = "What has errors keeps its last good version."
    ERROR_FLEET_CONFIG_REPO = "An error in the fleet's config repo"
    ERROR_NOT_COMPARED = "error: {one} was not compared: {one_2}"
    FILES_CLUSTERS = "{count} files for {count_2} clusters are in {out}"
    FILES_NEXT = "{count} new files are in {resolve}. Next:"
    FILES_REPLACED = "replaced: {files}"
    FILES_UNCHANGED = "unchanged, since they exist: {files}"
    FILE_WATCHED_BRANCH_ALREADY = "a file of the watched branch {verb}s {request} already"
    FLEET_SIMULATED_CLUSTERS = "A fleet of simulated clusters"
    FOLDER_ORDER = "Folders on each cluster, in this order: {folders}."
    FORGE_NEEDS_TOKEN = "--forge needs a token: either --forge-token-file FILE or --forge-token-env NAME"
    FORGE_SHOWS_COMMITS = "--forge shows commits, and with --state-dir there are none"
    GETS_SNAPSHOT = "{line_of}, gets snapshot {fields}"
    GITFLEET_AGENT_CTRL_C_SIGTERM = "gitfleet %s is the agent of %s; Ctrl-C or SIGTERM ends it"
    GITFLEET_CRASHES_RESTARTS = "gitfleet crashes and restarts; only git remains"
    GITFLEET_CTRL_C_SIGTERM_ENDS = "gitfleet %s %s; Ctrl-C or SIGTERM ends it"
    GITFLEET_DESCRIBE_ROLLOUT_NAME_SAYS = "`gitfleet describe rollout NAME` says it of each cluster; commit other content of its target, or remove its file"
    GITFLEET_EXPLAIN_PLACEMENT_SAYS_EACH = "`gitfleet explain PLACEMENT` says of each cluster why"
    GITFLEET_EXPLAIN_SAYS_WHERE = "`gitfleet explain {placement}` says where it is"
    GITFLEET_GET_APPROVALS_LISTS_STAGES = "`gitfleet get approvals` lists the stages that wait"
    GITFLEET_GET_CLUSTERS_LISTS = "`gitfleet get clusters` lists what there is"
    GITFLEET_GET_CLUSTERS_LISTS_ALL = "`gitfleet get clusters` lists them all"
    GITFLEET_GET_HOLDS_LISTS = "`gitfleet get holds` lists what there is"
    GITFLEET_GET_HOLDS_LISTS_ALL = "`gitfleet get holds` lists them all"
    GITFLEET_GET_LISTS = "`gitfleet get {kind}` lists what there is"
    GITFLEET_GET_ROLLOUTS_LISTS = "`gitfleet get rollouts` lists what there is"
    GITFLEET_GET_RUNS_O_WIDE = (
        "`gitfleet get runs -o wide` lists them; add a new run, or remove the file of one that is done with"
    )
    GITFLEET_GIT_PROXY_NO_URL = "GITFLEET_GIT_PROXY is no URL of a proxy"
    GITFLEET_GIT_TIMEOUT = "GITFLEET_GIT_TIMEOUT is {text!r}: give whole seconds from 1 to {longest_seconds:.0f}"
    GITFLEET_OWN_GIVEN_NO_OTHER = "{ours} is gitfleet's own and is given to no other program"
    GITFLEET_PLAN_CLUSTERS_SIMULATED = "  gitfleet plan --clusters simulated"
    GITFLEET_VALIDATE_LISTS_ALL = "`gitfleet validate` lists them all"
    GITFLEET_WROTE_BRANCH_GITFLEET_STATE = (
        "What gitfleet wrote on the branch gitfleet/state is shown above. To see more of it:"
    )
    GITHUB_APP_NEEDS = "a GitHub App needs {app}; {missing} is not set"
    GIT_INIT_B_MAIN_GIT = '  git init -b main && git add . && git commit -m "My fleet"'
    GIVE_ONE_GITFLEET_GIT_PASSWORD = (
        "give one of GITFLEET_GIT_PASSWORD, GITFLEET_GIT_PASSWORD_FILE and {app}, not several"
    )
    GIVE_PLAN_O_MARKDOWN_WROTE = "give what `plan -o markdown` wrote"
    GOES_ENDS_RUN = "{path} goes, which ends its run"
    H1_ROLLOUT_VIRTUAL_TIME = "<h1>A rollout in virtual time: {escape}</h1>"
    HINT_FREE_SOME_SPACE = "hint: free some space, or send the output somewhere else"
    HINT_HELP_SHOWS = "hint: `{command_path} --help` shows what there is"
    IF_YOU_KNOW_WHY = "if you know why, raise --max-size"
    IS_NOW_AT = "is now at"
    HOLD_REJECTED = "{line} is rejected"
    HOLD_TO_APPROVE = "{line}. To approve, run: gitfleet approve {hold}"
    ITS_ARE_DELETED = "its {number} are deleted"
    ITS_ARE_HELD = "its {number} are held until a person approves"
    ITS_BINDING_IS_WITH_IT = "Its binding is {row} with {row_2}; it has {has}."
    ITS_STAY_THERE = "its {number} stay there"
    KUBECONFIG_KUBECONFIG_GOES_CONTEXT_NAME = (
        "--kubeconfig (or KUBECONFIG) goes with --context NAME, the cluster that this agent is of"
    )
    LARGER_MIB = "{shown} is larger than {max_size} MiB"
    LEADER_ELECTION_NONE_AUTO = "--leader-election {leader_election} is none of auto, never and NAMESPACE/NAME"
    LEASE_DURATION_GOES_LEASE = "--lease-duration goes with a Lease, and --leader-election never has none"
    LEAVES_FLEET = "leaves the fleet: {cluster}; {what}"
    LISTED_WITH_V = "; -v lists each"
    LIES_OUTSIDE_NOT_WRITTEN = "{path} lies outside of {out} and is not written"
    LISTEN_NO_ADDRESS_PORT = "--listen {address} is no ADDRESS:PORT, such as :8080, 127.0.0.1:8080 or [::]:8080"
    MADE_BARE_REPOSITORY = "made the bare repository {folder}"
    MERGE_APPROVE_HOLD_NAME_THEN = (
        "Merge it, and approve the hold by the name that it then has on the state branch (docs/removal.md)."
    )
    MERGE_INTO = "; merge it into {watched}"
    MOUNT_FOLDER_WRITTEN_POD_EMPTYDIR = (
        "mount a folder that can be written (in a pod an emptyDir), and name it with --cache-dir or TMPDIR"
    )
    NAMESPACE_MISSING = (
        "nothing brings the Namespace {name} to {clusters}, which get objects in it: add it to their variant"
    )
    NAMESPACES_GO_EVERYTHING = "Namespaces that go with everything in them: {namespaces}."
    NAME_ANOTHER_FOLDER_DIR = "name another folder with --dir"
    NAME_EMPTY_ABSENT_FOLDER_OUT = "name an empty or absent folder with --out"
    NAME_FORGE_FORGE = "name the forge with --forge"
    NAME_TEAMS_CODEOWNERS = "  edit .{forge}/CODEOWNERS: name your teams"
    NEWER_COMMITS_NOT_RECONCILED_YET = "newer commits are not reconciled yet: {otherwise}"
    NEXT_RECONCILE_TAKES_UP_FREEZE = "the next reconcile takes up what they freeze and lift"
    NOTHING_MOVES_ANY_MORE = "nothing moves any more"
    NOTHING_NEW_REPORT = "nothing new to report"
    NOTHING_SETTLED_WITHIN = "nothing was settled within {timeout:g} s: {waiting}"
    NOT_ANSWER = "{count} {verb} not answer"
    NOT_ANY_MORE = "{path} is not there any more"
    NOT_DECRYPTED_NAME_KEY_SOPS = "not decrypted: {count}; name the key with --sops-age-key-file to have them checked"
    NOT_EMPTY_FOLDER = "{out} is not an empty folder"
    NOT_EMPTY_NOT_EARLIER_DEMO = "{directory} is not empty and not an earlier demo"
    NOT_PLACED_CLUSTER = "{placement} is not placed on a cluster {cluster}"
    NOT_PLANNED_WORK_TREE_UNCOMMITTED = (
        "Not planned: the work tree has uncommitted changes in {changes}; --work-tree plans them."
    )
    NOT_READ_WORK_TREE_UNCOMMITTED = (
        "not read: the work tree has uncommitted changes in {uncommitted}; --work-tree reads them"
    )
    NO_CLUSTER = 'there is no cluster "{cluster}"'
    NO_COMMAND = 'there is no command "{args}"; {meant}'
    NO_CONDITION = '"{text}" is no condition; {meant}'
    NO_DIFFERENCE = "no difference in {count}"
    NO_FOLDER_FOR_CACHE = "neither the user's cache folder nor a temporary one can be written"
    NO_HOLD = 'there is no hold "{name}"'
    NO_LONGER_PICKED = "no longer picked"
    NO_MANIFEST_CHANGES = "No manifest changes; {count} to scale down."
    NO_NUMBER_STANDS_ADDRESS_INSTALLATION = "{app} is no number: it stands in the address of the installation's page"
    NO_OBJECT_CHANGES = "No object changes; {count} in place."
    NO_REPORT_COULD_SAVED = "no report could be saved ({strerror}): set TMPDIR to a folder that can be written"
    NO_RESOURCES_FOUND = "No resources found"
    NO_SNAPSHOT_YET = "no snapshot yet"
    NO_TEXT_PUT_PULL_REQUEST = "there is no text to put on the pull request"
    NO_VARIANT = "no variant matches, so the cluster gets nothing of the folder"
    NO_WORK_TREE_READ_HERE = "{repo} has no work tree that can be read here"
    ONCE_UNTIL_SETTLED_EXCLUDE_EACH = "--once and --until-settled exclude each other"
    O_JSON_ONE_DOCUMENT_NEEDS = (
        "-o json is one document and needs an end: add --once or --until-settled, or use -o jsonl"
    )
    O_JSON_WHOLE_TIMELINE = "-o json has the whole timeline"
    OPTION_NAMES_TWICE = "{option} names {name} twice"
    OPTION_NO_PAIR = "{option} {given} is no {form}"
    PICKED_AGAIN_ONCE = (
        "{cluster} may be picked again at once, unless it has a taint that {placement} does not tolerate"
    )
    PICKED_WAITS_TURN = "picked, waits for its turn"
    PLACEMENTS_LOSE = "What placements lose: {losses}."
    PLACEMENTTYPE_PICKFIXED_CANNOT_EVICTED = "{placement} has placementType PickFixed and cannot be evicted"
    PLANNED_UNCOMMITTED_CHANGES = "Planned with the uncommitted changes of {changes}."
    PLAN_FAILS = "plan fails on {condition}: {sentence}"
    PREFIX_BEGINS_BRANCH_NAME_ENDS = (
        "--{option} PREFIX begins a branch's name and ends in a slash, as in the FleetConfig"
    )
    READS_STATE_REV_WORKS_OUT = "--at reads a state, --rev works out a new one"
    REFUSED_PLUG = "It was refused by the plug-in {row}."
    RENAMED_NOW_KEEPS = "renamed: {placement} is {placement_name} now, and keeps what it has"
    REPORT_IS = "the report is {saved_report}"
    REPO_NO_URL_PATH_OWNER = "REPO is no URL with a path OWNER/NAME: name the repository with --forge-repo"
    RESOURCEPLACEMENT_ONLY_PLACEMENT_EVICTED = (
        "{placement} is a ResourcePlacement, and only a ClusterResourcePlacement can be evicted"
    )
    REST_COMMIT_GOES_OUT = "  Nothing of it is removed; the rest of the commit goes out."
    REV_NOT_GO_TOGETHER = "--at and --rev do not go together"
    REV_WORKS_OUT_LEAD = "`--rev {watch_branch}` works out what they lead to"
    REV_WORK_TREE_EXCLUDE_EACH = "--rev and --work-tree exclude each other"
    ROLLED_OUT = "is rolled out"
    ROLL_BACK_SNAPSHOT = "Roll back {placement} to snapshot {index}"
    RUN_OVER_NO_ANSWER_CHANGES = 'run "{run}" is over, no answer changes it any more'
    RUN_WAITS_NO_APPROVAL_STAGE = 'run "{run}" waits for no approval of a stage "{stage}"'
    SCALES_DOWN = "scales down: {kind} {name}, from {pods} to {after} on {clusters}, by rollout {rollout}: fewer than its manifest says"
    SCHEMAS_WRITTEN = "{count} schemas are in {folder}"
    SCHEMA_KIND_OR_OUT = "give a KIND or --out, not both"
    SEE_GITFLEET_GET_CRP_GITFLEET = (
        "see `gitfleet get crp` and `gitfleet explain PLACEMENT`, or wait longer with --timeout"
    )
    SETTLED_COMMIT_PLACEMENTS = "settled at commit {commit}: {placements}, {bindings}"
    SNAPSHOTS_COMPARES_TWO_SNAPSHOTS = "--snapshots compares two snapshots, and takes neither a cluster nor --rev"
    STAGE_RUN_SNAPSHOT = "{verb}s stage {stage} of run {run}, with snapshot {snapshot_index}"
    STAND_WATCHED_BRANCH = "{listed_as} stand on the watched branch, not on the state branch"
    STARTS_RECONCILES_ONCE_LEADS = "starts and reconciles once it leads"
    STDOUT_CANNOT_WRITTEN = "stdout cannot be written: {strerror}"
    STOPPED_BEFORE_EVERYTHING_SETTLED = "stopped before everything was settled"
    TAKES_BACK_SNAPSHOT = "{made} takes {placement} back to snapshot {index} {how}"
    TAKE_OUT_SPEC_POLICY_CLUSTERNAMES = "take {cluster} out of its spec.policy.clusterNames"
    THERE_IS_NO = 'there is no {kind} "{name}"'
    TIMELINE_IS_IN = "the timeline is in {file}"
    UP_DATE_2 = "up to date on {where}"
    UP_DATE_BUT_HELD_REMOVALS = "up to date but for held removals"
    VARIABLE_FORGE_TOKEN_ENV_NOT = "the variable {variable} of --forge-token-env is not set"
    WARNING_CLONE_NO_STATE_BRANCH = "warning: this clone has no state branch of its own, and its remote {remote} has one; `git remote get-url {remote}` says what to name as REPO (or -C)"
    WARNING_TEMPORARY_CACHE = (
        "warning: there is no cache folder that can be written, so everything is fetched and read again each time"
    )
    WAS_ALREADY_AT = "was already at"
    WORKLOAD_ROLLOUT = "{path} {part} workload rollout {rollout}"
    WORKLOAD_ROLLOUT_2 = "{verb} workload rollout {rollout}"
    WORK_GOES = "{sentence}; the work goes on"
    WORK_TREE = "the work tree"
    WORK_TREE_NEEDS_TOP_FOLDER = (
        "--work-tree needs the top folder of a clone on this machine, with a commit checked out"
    )
    WOULD_BE_REFUSED = "{count} would be refused"
    WOULD_CHANGE = "What would change that: {row}"
    WOULD_LEAVE_FLEET = "{number} of {count} would leave the fleet"
    WOULD_SCALED_DOWN = "would be scaled down below the manifest"
