"""approvals: which answers of people count, and why the others do not.

judge(asked, approvals, facts, policy, now) -> Verdict
given(asked, approvals)                     the approvals that are meant for a request
wrong_approvals(asked, approvals, by_request)   those that answer nothing, and were meant for what waits
standing(asked, approval, now, before)      the approval of an earlier commit that said the same already
strictest(policies)                         the policy that asks for all that these ask for
next_name(name, approvals, paths)           the name of one more approval of a request
name_to_reject(name, approvals)             the name of an approval that rejects it
approval_path(name)                               where the file of an approval lies
approval_text(name, ...)                    its content
approval_branch(prefix, key)                the branch that asks for it

Pure: the shell says how each approval came to the watched branch (model/approvals.py), in particular who signed.
Source: decision record 0014.
"""

from gitfleet.approvals.judging import judge, strictest
from gitfleet.approvals.naming import (
    APPROVALS_FOLDER,
    approval_branch,
    approval_path,
    approval_text,
    given,
    name_to_reject,
    next_name,
    standing,
    wrong_approvals,
)

__all__ = [
    "APPROVALS_FOLDER",
    "approval_branch",
    "approval_path",
    "approval_text",
    "given",
    "judge",
    "name_to_reject",
    "next_name",
    "standing",
    "strictest",
    "wrong_approvals",
]
