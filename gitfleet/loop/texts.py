"""Every sentence of gitfleet.loop, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class LoopText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ANOTHER_PROCESS_MOVED_STATE_BRANCH = "another process moved the state branch first; observing again"
    ANSWERED_OTHERWISE = "nothing was pushed: another file of the watched branch rejects {name}"
    ANSWER_CANNOT_COUNT = "nothing was pushed, since this approval cannot count: it {why}"
    ANSWER_NOT_READ = "nothing was pushed: the commit has no answer to {name} that gitfleet reads"
    CLOCK_BEHIND = "this machine's clock says {now} and the last commit of the state is of {written}; nothing changes until the clock is set right or has passed that time"
    DISK_MACHINE_FULL = "a disk of this machine is full"
    END_RECONCILE = "end of a reconcile"
    GIT_REMOTE_CANNOT_ASKED_NOW = "the git remote cannot do what it is asked now"
    GIT_REMOTE_NOT_ANSWER_SHOULD = "the git remote does not answer as it should"
    GIT_REMOTE_NO_REPOSITORY = "the git remote has no such repository"
    GIT_REMOTE_REFUSES_CREDENTIALS = "the git remote refuses the credentials, or what they may do"
    GIT_REMOTE_REFUSES_SENT = "the git remote refuses what it is sent"
    LAST_RECONCILE_FAILED = "the last reconcile failed: {why}"
    LAST_RECONCILE_FAILED_2 = "the last reconcile failed"
    LEADER_ELECTION_GOES_TRYING = "{sentence}; leader election goes on trying"
    LEADING_HELD = "leading: {lease} is held by {identity}"
    MOVED_ANOTHER_PROCESS = "{state} was moved by another process"
    NAME_LATER_START = "name a later start, or begin with an empty fleet: --from empty"
    NEXT_RECONCILE_LATE = "the next reconcile is {now:.0f} s late"
    NOTHING_WRITTEN = (
        "the commit has no cluster, no placement and no resource; lay a first fleet out with `gitfleet init`"
    )
    NOTHING_CLUSTER = "{name} has nothing on a cluster {cluster}"
    NOT_MOVED_PROCESS_NOT_LEAD = "{branch} is not moved: this process does not lead any more"
    NOT_RELEASED = "is not released"
    NOT_RETURN_WITHIN = "{what} did not return within {timeout:g} s"
    NO_CLUSTERS = "it has no clusters"
    NO_LEADER_ELECTION = "%s; there is no leader election"
    NO_RECONCILE_SUCCEEDED_YET = "no reconcile has succeeded yet"
    NO_SNAPSHOT = "{name} has no snapshot {index}"
    NO_TIME_ASK = "there was no time to ask {left}, which the next pass does first"
    OBJECTS_SNAPSHOT_NOT_KEPT_ANY = "the objects of snapshot {index} of {name} are not kept any more"
    PROCESS_ENDING = "the process is ending"
    PROGRAM_FILE_FOLDER_MISSING = "a program, a file or a folder is missing, or cannot be used"
    RECONCILE_UNDER_WAY = "a reconcile has been under way for {now:.0f} s"
    RECONCILING_AGAIN_AFTER = "reconciling again after %s"
    REMOVE_THAT_ANSWER = "remove that file, or change its status"
    SCENARIO_STARTS_TOO_EARLY = (
        "the scenario starts at {start:%Y-%m-%dT%H:%M}, before the state of {written:%Y-%m-%dT%H:%M}"
    )
    SEE_IGNORE_RULES = "let .gitfleetignore leave the folder approvals alone"
    SIGN_COMMITS = "sign with a key of allowedSigners: set commit.gpgSign, gpg.format and user.signingKey with `git config --global`, or in the clone that -C names; no other settings are read"
    STANDING_HELD = "standing by: {lease} is held by {holder}"
    STANDING_NOT_RENEWED_TIME = "standing by: {lease} was not renewed in time"
    START_RECONCILE = "start of a reconcile"
    TRYING_AGAIN_G = "%s; trying again in %g s"
    WHOLE_FLEET = "of the whole fleet"
    WHO_MAY_APPROVE = "spec.approvals of the FleetConfig says who may approve; where `gitfleet run` has --approval-policy, give it here too"
