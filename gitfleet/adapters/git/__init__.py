"""git: RepoReader and RepoWriter on a real git remote, through GitPython as a hardened runner of git's plumbing.

Entry point: `GitRemote`. It keeps a bare mirror of the remote in a folder of its own and talks
to the remote by `ls-remote`, `fetch` and `push` alone. No work tree, index, hook, filter, submodule or external
protocol is ever used, nothing of the caller's GIT_* environment reaches git, and no secret appears in an argument or a
message.
"""

from gitfleet.adapters.git.remote import GitRemote

__all__ = ["GitRemote"]
