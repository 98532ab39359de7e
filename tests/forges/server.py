"""A local server with the part of the APIs of GitHub, Gitea and GitLab that gitfleet calls.

Paths, fields, limits, pages, error codes and the oddities of the responses are those of each forge's published API:
whatever it does not know is refused as the forge refuses it, and noted in `refused`. Shapes: GitHub REST 2022-11-28,
Gitea 1.22 (swagger), GitLab v4.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from gitfleet.adapters.forge.texts import ForgeText

OWNER, NAME = "acme", "fleet"
REPOSITORY = f"{OWNER}/{NAME}"
TOKEN = "forge-token-0123456789"
DIALECTS = ("github", "gitea", "gitlab")
Body = Any


@dataclass(frozen=True)
class Reply:
    """One response: a body that is no text is sent as JSON."""

    status: int
    body: Body = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Pull:
    """A pull request as the server keeps it."""

    number: int
    branch: str
    target: str
    title: str
    body: str | None
    state: str = "open"
    fork: bool = False


@dataclass
class ForgeServer:
    """What the forge has: branches with heads, pull requests, statuses in the order in which they came, comments.
    `user` is the login and id of the token's, `authors` those of who wrote a comment, somebody else where it has none.

    `sent` are the last bodies by path, `distorted` those that are sent in their place.
    `faults` answer the next requests instead; `always` answers all while it is set. `next_page` is where a first page
    says that the second one is. Requests with `broken` in their method, path and body are a defect of the forge. With
    `loses` the response to the next POST is lost after it was carried out, and with `hangs` nothing is answered before
    that event; `asked` is set by the first request.
    """

    dialect: str
    url: str = ""
    branches: dict[str, str] = field(default_factory=lambda: {"main": "a" * 40})
    pulls: list[Pull] = field(default_factory=list)
    statuses: list[tuple[str, str, str, str]] = field(default_factory=list)
    comments: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    authors: dict[int, tuple[str, int]] = field(default_factory=dict)
    user: tuple[str, int] = ("bot", 1)
    seen: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    faults: list[Reply] = field(default_factory=list)
    always: Reply | None = None
    sent: dict[str, Body] = field(default_factory=dict)
    distorted: dict[str, Body] = field(default_factory=dict)
    most_statuses: int = 1000
    token: str = TOKEN
    next_page: str = ""
    loses: bool = False
    broken: str = ""
    hangs: threading.Event | None = None
    asked: threading.Event = field(default_factory=threading.Event)

    def has_branches(self, heads: Mapping[str, str]) -> None:
        """Somebody pushed: a pull request of a branch that is gone is closed, but for GitLab, which leaves it."""
        self.branches = dict(heads)
        for pull in self.pulls:
            if pull.state == "open" and pull.branch not in heads and self.dialect != "gitlab":
                pull.state = "closed"

    def open_pulls(self) -> dict[str, Pull]:
        """The open pull requests by branch."""
        return {pull.branch: pull for pull in self.pulls if pull.state == "open"}

    def shown(self, commit: str) -> dict[str, tuple[str, str]]:
        """The present status of each context of a commit."""
        return {context: (state, text) for sha, context, state, text in self.statuses if sha == commit}

    def written(self) -> list[tuple[str, str]]:
        """The requests that were no reading."""
        return [one for one in self.seen if one[0] != "GET"]

    def _open_or_closed(self, word: str) -> list[Pull]:
        """The pull requests of a state, as the forge calls it; GitHub and Gitea call a merged one closed."""
        closed = ("closed",) if self.dialect == "gitlab" else ("closed", "merged")
        states = {"opened" if self.dialect == "gitlab" else "open": ("open",), "closed": closed}[word]
        return [pull for pull in self.pulls if pull.state in states]

    # One request

    def respond(self, method: str, target: str, headers: Mapping[str, str], content: bytes) -> Reply:
        self.asked.set()
        if self.hangs is not None:
            self.hangs.wait(60)
        if self.broken and self.broken in f"{method} {target} {content.decode()}":
            return Reply(500, {"message": "oops"})
        reply = self.answer(method, target, headers, content)
        if self.loses and method == "POST":
            self.loses = False
            return Reply(502, {"message": "lost"})
        return reply

    def answer(self, method: str, target: str, headers: Mapping[str, str], content: bytes) -> Reply:
        parts = urlsplit(target)
        self.seen.append((method, parts.path))
        if self.always is not None or self.faults:
            return self.always or self.faults.pop(0)
        wanted = {"gitlab": ("private-token", self.token)}.get(self.dialect, ("authorization", f"token {self.token}"))
        if headers.get(wanted[0]) != wanted[1]:
            return Reply(401, {"message": "401 Unauthorized" if self.dialect == "gitlab" else "Bad credentials"})
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        body = json.loads(content) if content else {}
        for routed, pattern, respond in self._routes():
            match = re.fullmatch(pattern, parts.path)
            if routed == method and match:
                reply = self._paged(respond(match, body, query), target, query)
                self.sent[parts.path] = reply.body
                return replace(reply, body=self.distorted.get(parts.path, reply.body))
        self.refused.append(f"{method} {target}")
        return Reply(404, {"message": "404 Not Found"})

    def _paged(self, reply: Reply, target: str, query: Mapping[str, str]) -> Reply:
        if not isinstance(reply.body, list):
            return reply
        asked = int(query.get({"gitea": "limit"}.get(self.dialect, "per_page"), 30 if self.dialect != "gitlab" else 20))
        size, page = min(asked, 50 if self.dialect == "gitea" else 100), int(query.get("page", 1))
        rows = reply.body[(page - 1) * size : page * size]
        headers = {"Link": f'<{self.next_page}>; rel="next"'} if self.next_page and page == 1 else {}
        if len(reply.body) > page * size:
            following = urlencode({**query, "page": page + 1})
            headers["Link"] = f'<{self.url}{urlsplit(target).path}?{following}>; rel="next"'
        return Reply(reply.status, rows, headers)

    def _routes(self) -> list[tuple[str, str, Callable[[re.Match[str], Body, Mapping[str, str]], Reply]]]:
        if self.dialect == "gitlab":
            api, root, change = "/api/v4", f"/api/v4/projects/{OWNER}%2F{NAME}", "PUT"
            pulls, statuses = f"{root}/merge_requests", rf"{root}/repository/commits/(\w+)/statuses"
            notes, note = rf"{pulls}/(\d+)/notes", rf"{pulls}/\d+/notes/(\d+)"
        else:
            api, change = "/api/v1" if self.dialect == "gitea" else "/api/v3", "PATCH"
            root = f"{api}/repos/{OWNER}/{NAME}"
            pulls, statuses = f"{root}/pulls", rf"{root}/statuses/(\w+)"
            notes, note = rf"{root}/issues/(\d+)/comments", rf"{root}/issues/comments/(\d+)"
        opening, setting = (_LAB_OPEN, _LAB_STATUS) if self.dialect == "gitlab" else (_HUB_OPEN, _HUB_STATUS)
        return [
            ("GET", f"{api}/user", lambda m, b, q: self._user()),
            ("GET", pulls, lambda m, b, q: self._list(q)),
            ("POST", pulls, lambda m, b, q: self._open(b, opening)),
            (change, rf"{pulls}/(\d+)", lambda m, b, q: self._edit(int(m[1]), b)),
            ("GET", statuses, lambda m, b, q: self._statuses_of(m[1])),
            ("POST", rf"{root}/statuses/(\w+)", lambda m, b, q: self._set(m[1], b, setting)),
            ("GET", notes, lambda m, b, q: self._comments_of(int(m[1]))),
            ("POST", notes, lambda m, b, q: self._comment(int(m[1]), 0, b)),
            (change, note, lambda m, b, q: self._comment(0, int(m[1]), b)),
        ]

    # Pull requests

    def _list(self, query: Mapping[str, str]) -> Reply:
        # Gitea does not know `base` and `head`, and lists the pull requests of every branch.
        names = {"github": ("base", "head"), "gitlab": ("target_branch", "source_branch")}.get(self.dialect, ())
        target, source = (query.get(name) for name in names) if names else (None, None)
        rows = [p for p in self._open_or_closed(query["state"]) if target in (None, p.target)]
        rows = [p for p in rows if source in (None, p.branch, f"{OWNER}:{p.branch}")]
        return Reply(200, [self._pull_body(pull) for pull in rows])

    def _open(self, body: Body, fields: Mapping[str, str]) -> Reply:
        wrong = set(body) ^ set(fields.values())
        branch, target = body.get(fields["branch"]), body.get(fields["target"])
        if wrong or branch not in self.branches or target not in self.branches or not body[fields["title"]]:
            return self._invalid(f"fields {sorted(wrong)}, branch {branch}, target {target}")
        if branch in self.open_pulls():
            if self.dialect == "github":
                return self._invalid(f"A pull request already exists for {OWNER}:{branch}.")
            return Reply(409, {"message": ["Another open merge request already exists for this source branch: !1"]})
        title, text = body[fields["title"]], body[fields["body"]]
        if len(title) > 256 or len(text) > 65_536:
            return self._invalid("title or body is too long")
        pull = Pull(number=len(self.pulls) + 1, branch=branch, target=target, title=title, body=text)
        self.pulls.append(pull)
        return Reply(201, self._pull_body(pull))

    def _edit(self, number: int, body: Body) -> Reply:
        pull = next((one for one in self.pulls if one.number == number), None)
        if pull is None:
            return Reply(404, {"message": "Not Found"})
        closing = {"state_event": "close"} if self.dialect == "gitlab" else {"state": "closed"}
        text = "description" if self.dialect == "gitlab" else "body"
        if body == closing:
            pull.state = "closed"
        elif set(body) == {"title", text} and body["title"]:
            pull.title, pull.body = body["title"], body[text]
        else:
            return self._invalid(f"fields {sorted(body)}")
        return Reply(201 if self.dialect == "gitea" else 200, self._pull_body(pull))

    def _pull_body(self, pull: Pull) -> Body:
        if self.dialect == "gitlab":
            return {
                "id": 9_000 + pull.number, "iid": pull.number, "project_id": 7, "title": pull.title,
                "description": pull.body, "state": {"open": "opened"}.get(pull.state, pull.state),
                "target_branch": pull.target, "source_branch": pull.branch, "target_project_id": 7,
                "source_project_id": 8 if pull.fork else 7, "draft": False, "web_url": f"{self.url}/-/{pull.number}",
            }  # fmt: skip
        api = f"{self.url}/api/v3/repos/{REPOSITORY}/pulls/{pull.number}"
        web = f"{self.url}/{REPOSITORY}/pulls/{pull.number}"
        owner = "somebody" if pull.fork else OWNER
        ends = {"head": self._end_body(pull.branch, owner), "base": self._end_body(pull.target, OWNER)}
        return {
            "url": web if self.dialect == "gitea" else api, "id": 70_000 + pull.number, "number": pull.number,
            "state": pull.state, "title": pull.title, "body": pull.body, "user": {"login": "bot", "id": 1},
            "html_url": web, "draft": False, **ends,
            "merged_at": "2026-01-01T00:00:00Z" if pull.state == "merged" else None,
        }  # fmt: skip

    def _end_body(self, ref: str, owner: str) -> Body:
        of = {"id": 7, "name": NAME, "full_name": f"{owner}/{NAME}", "owner": {"login": owner, "id": 2}}
        return {"label": f"{owner}:{ref}", "ref": ref, "sha": self.branches.get(ref, "0" * 40), "repo": of}

    # Statuses

    def _statuses_of(self, commit: str) -> Reply:
        if commit not in self.branches.values():
            return Reply(404, {"message": "Not Found"})
        rows = [(number, one) for number, one in enumerate(self.statuses, start=1) if one[0] == commit]
        if self.dialect == "gitlab":  # lists the newest of each context
            newest = {one[1]: (number, one) for number, one in rows}
            return Reply(200, [self._status_body(*row) for row in newest.values()])
        return Reply(200, [self._status_body(*row) for row in reversed(rows)])

    def _set(self, commit: str, body: Body, fields: Mapping[str, str]) -> Reply:
        if commit not in self.branches.values():
            return Reply(404, {"message": "404 Commit Not Found"})
        words = ("pending", "success", "failed") if self.dialect == "gitlab" else ("pending", "success", "failure")
        context, state, text = (body.get(fields[name]) for name in ("context", "state", "text"))
        if set(body) != set(fields.values()) or state not in words or not context:
            return self._invalid(f"{sorted(body)} {state}")
        if self.dialect == "github" and len(text) > 140:
            return self._invalid("description is too long (maximum is 140 characters)")
        before = self.shown(commit).get(context)
        if self.dialect == "gitlab" and before is not None and before[0] == state:
            why = (
                ForgeText.CANNOT_TRANSITION_STATUS()
                + f" via :enqueue from :{state} (Reason(s): Status cannot transition)"
            )
            return Reply(400, {"message": why})
        if [one[:2] for one in self.statuses].count((commit, context)) >= self.most_statuses:
            return self._invalid("This SHA and context has reached the maximum number of statuses.")
        self.statuses.append((commit, context, state, text))
        return Reply(201, self._status_body(len(self.statuses), self.statuses[-1]))

    def _status_body(self, number: int, status: tuple[str, str, str, str]) -> Body:
        commit, context, state, text = status
        if self.dialect == "gitlab":
            return {"id": number, "sha": commit, "ref": "main", "status": state, "name": context, "description": text}
        word = "status" if self.dialect == "gitea" else "state"
        return {"id": number, word: state, "context": context, "description": text, "target_url": None}

    # Comments

    def _comments_of(self, number: int) -> Reply:
        if number not in [pull.number for pull in self.pulls]:
            return Reply(404, {"message": "Not Found"})
        return Reply(200, [self._comment_body(*one) for one in self.comments.get(number, [])])

    def _comment(self, number: int, comment: int, body: Body) -> Reply:
        if set(body) != {"body"} or not body["body"]:
            return self._invalid(f"fields {sorted(body)}")
        if len(body["body"]) > 65_536:
            return self._invalid("body is too long (maximum is 65536 characters)")
        if not comment:
            rows = self.comments.setdefault(number, [])
            rows.append((sum(map(len, self.comments.values())) + 1, body["body"]))
            self.authors[rows[-1][0]] = self.user
            return Reply(201, self._comment_body(*rows[-1]))
        for rows in self.comments.values():
            for index, one in enumerate(rows):
                if one[0] == comment:
                    rows[index] = (comment, body["body"])
                    return Reply(200, self._comment_body(*rows[index]))
        return Reply(404, {"message": "Not Found"})

    def _comment_body(self, number: int, text: str) -> Body:
        login, id_ = self.authors.get(number, ("somebody", 5))
        return {
            "id": number,
            "body": text,
            "user": {"login": login, "id": id_},
            "author": {"username": login, "id": id_},
        }

    def _user(self) -> Reply:
        if self.user[0].endswith("[bot]") and self.dialect != "gitlab":
            return Reply(403, {"message": "Resource not accessible by integration"})
        return Reply(200, {"login": self.user[0], "id": self.user[1], "url": f"{self.url}/api/v3/user"})

    def _invalid(self, why: str) -> Reply:
        self.refused.append(why)
        if self.dialect == "github":
            return Reply(422, {"message": "Validation Failed", "errors": [{"code": "custom", "message": why}]})
        return Reply(422 if self.dialect == "gitea" else 400, {"message": why})


_HUB_OPEN = {"branch": "head", "target": "base", "title": "title", "body": "body"}
_LAB_OPEN = {"branch": "source_branch", "target": "target_branch", "title": "title", "body": "description"}
_HUB_STATUS = {"context": "context", "state": "state", "text": "description"}
_LAB_STATUS = {"context": "name", "state": "state", "text": "description"}


@contextmanager
def serving(dialect: str) -> Iterator[ForgeServer]:
    """A forge on this machine for the length of a block."""
    forge = ForgeServer(dialect=dialect)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # no answer waits 40 ms for the acknowledgement of its head

        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = forge.respond(self.command, self.path, headers, content)
            text = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            given = {"Content-Type": "application/json", "Content-Length": str(len(text)), **reply.headers}
            for name, value in given.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    forge.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
