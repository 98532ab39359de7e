"""Every sentence of gitfleet.branches, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class BranchesText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ACCEPTED_LAST = "what was accepted last"
    ACCEPTED_LAST_COMMIT = "what was accepted last (commit {older})"
    ADD_HAND_GITFLEET_APPROVE = "add {path} by hand or with `gitfleet approve`, or let gitfleet push this branch"
    ALLOWEDSIGNERS_NAMES_NO_FILE_MOST = (
        "{path}, which allowedSigners names, is no file of at most 1 MiB in commit {commit}"
    )
    BRANCH_ASKS_APPROVAL = "the branch {branch}, which asks for an approval, cannot be kept: {error}"
    BRANCH_COMMITS_SOMEBODY_ELSE = "the branch {rendered} has commits of somebody else, which gitfleet undoes"
    BRANCH_COMMITS_SOMEBODY_ELSE_GITFLEET = (
        "the branch {branch} has commits of somebody else, so gitfleet leaves it alone"
    )
    BRANCH_HOLDS_SOMEBODY_ELSE_COMMITS = "the branch \"{rendered}\" holds somebody else's commits, and none of gitfleet's: remove it, or name another one in spec.branches.rendered"
    CANNOT_BRANCH_HOLDS_SOMETHING_ELSE = 'it cannot be the branch "{rendered}", which holds something else'
    CANNOT_READ_PUT_COMMIT_TOP = "cannot be read, {reason}: put a commit on top of it that is sound"
    CANNOT_RENDERED_NOW = "{lost} cannot be rendered now, and what the branch had of it is not known"
    CHOOSES_NO_CLUSTER = '{option} "{selector}" chooses no cluster'
    COMMIT_CANNOT_READ_ANY_MORE = "{fault}; that commit cannot be read any more"
    COMMIT_REFUSED_WHOLE = "commit {commit} {refusal}; it is refused as a whole, and {accepted} goes on"
    COMMIT_WHERE_REMOTE = "commit to {watch} and, where there is a remote, push; `gitfleet init` lays a first fleet out"
    CONFIGURATIONS_SEND_WATCH_EACH_OTHER = 'the configurations on "{watch}" and "{other}" send the watch to each other'
    CORRECT_CONDITION_SAYS = "correct what its condition says, or push the last commit of that branch back"
    CORRECT_HOLDS_MEMBERCLUSTERS_IF = "correct {path}: it holds MemberClusters for a what-if"
    FILES_MOST_READ = "has {files} YAML and JSON files, and at most {most} are read: {few}"
    FLEETCONFIG_COMMIT_CAME_BEFORE = "the FleetConfig of commit {commit}, which came before it, has errors"
    HISTORY_NOT_SHORTENED = "the history of %s is not shortened: %s"
    HOLDS_NO_MEMBERCLUSTER = "{path} holds no MemberCluster"
    IT_IS_GONE = "it is gone"
    LET_SPEC_BRANCHES_WATCH_SAY = "let spec.branches.watch say the same on both, or name the branch with --branch"
    MUST_ONE_YAML_DOCUMENT_FIELDS = "it must be one YAML document with the fields of spec.approvals"
    NAME_CLUSTER_LABEL_KEY_VALUE = (
        "name a cluster, or a label as key=value; `gitfleet get clusters` lists what there is"
    )
    NOTHING_NEW_HEAD_HAPPENS_BEFORE = (
        "nothing of the new head happens before it is accepted: push {old} back, or `gitfleet approve {name}`"
    )
    NOT_WRITTEN_BY_GITFLEET = "gitfleet did not write this commit, or somebody edited it"
    NO_APPROVAL_POLICY = "{shown} is no approval policy: {faults}"
    NO_COMMIT_KNOWN_ADDED = "no commit is known that added it, and that no later one undid"
    NO_PLAIN_FILE = "it is no plain file"
    REMOVE_FILES_IGNORE_OTHERS = "remove files, or list those that are not for gitfleet in {ignore_file}"
    RENDERED_BRANCH_CANNOT_WRITTEN = "the rendered branch {rendered} cannot be written: {error}"
    REPOSITORY_NO_BRANCH = 'the repository has no branch "{watch}"; it has {named}'
    REPOSITORY_NO_COMMIT_ANY_BRANCH = "the repository has no commit on any branch yet"
    REWRITTEN_NOT_COME_AFTER = "{branch} was rewritten: {new} does not come after {old}, which is reconciled on"
    SNAPSHOT_LACKS = "the snapshot's document {path} is not on the branch"
    STATE_BRANCH_COMMIT = "the state branch's commit {head} cannot be used: {why}; none of the {most} commits before it is a whole state that gitfleet wrote, so nothing changes on any cluster"
    STATE_BRANCH_START_AGAIN = "to start again with an empty inventory, run: git push origin --delete {branch}"
    STATE_FOLDER_START_AGAIN = "put the file back, or delete the folder to start again with an empty inventory"
    STATE_RESTORED = "the state branch's commit %s cannot be used: %s; the state is restored from commit %s, and gitfleet deletes nothing until a person approves"
    TRIED_AGAIN_ITSELF = "{sentence}{hint}; it is tried again by itself, and the fleet is reconciled all the same"
    WATCH_ANOTHER_ONE_BRANCH = "watch another one with --branch {others}, or rename it: git branch -m {others} {watch}"
    WRITE_ONE_MORE_MEMBERCLUSTER_DOCUMENTS = "write one or more MemberCluster documents into it"
    WRITTEN_ANOTHER_WAY_TIMES = "it was written another way {most_edits} times; approve again"
