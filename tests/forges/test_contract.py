"""The contract of a forge, the same for each: what is written can be read again, pages are followed to their end, and
every error is one of three."""

from __future__ import annotations

import json
import operator
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Final, get_type_hints

import pytest
import requests

from gitfleet.adapters.forge import BUILT_IN
from gitfleet.adapters.forge.sessions import MOST_BYTES, ForgeAdapter, error_of
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import BadInput, Forbidden, ForgeUnavailable, GitfleetError
from gitfleet.model.forges import Comment, CommitStatus, PullRequest, StatusState
from gitfleet.ports.forges import Forge, ForgeAccess
from tests.adapters.kube.test_strange_servers import answering
from tests.forges.server import DIALECTS, REPOSITORY, TOKEN, ForgeServer, Pull, Reply, serving
from tests.texts import part

BRANCH, HEAD = "gitfleet/approve/hold-web", "b" * 40
WANTED = PullRequest(branch=BRANCH, title="Approve hold-web", body="```text\nWhat goes: 3\n```")


@pytest.fixture(params=DIALECTS)
def server(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    with serving(request.param) as forge:
        forge.branches[BRANCH] = HEAD
        yield forge
        assert not forge.refused


def connected(server: ForgeServer, token: str = TOKEN, repository: str = REPOSITORY) -> Forge:
    return BUILT_IN[server.dialect](ForgeAccess(url=f"{server.url}/", repository=repository, token=token))


def test_a_pull_request_is_opened_edited_and_closed(server: ForgeServer) -> None:
    forge = connected(server)
    assert list(forge.pulls("main")) == []
    opened = forge.open_pull(WANTED, "main")
    assert list(forge.pulls("main")) == [opened]
    assert (opened.branch, opened.title, opened.body) == (WANTED.branch, WANTED.title, WANTED.body)
    edited = PullRequest(branch=BRANCH, title="Another", body="Text", number=opened.number)
    forge.edit_pull(edited)
    assert list(forge.pulls("main")) == [edited]
    forge.close_pull(opened.number)
    assert list(forge.pulls("main")) == []
    assert [pull.state for pull in server.pulls] == ["closed"]


def test_pull_requests_of_forks_and_into_other_branches_are_none_of_ours(server: ForgeServer) -> None:
    server.pulls += [
        Pull(1, BRANCH, "main", "from a fork", None, fork=True),
        Pull(2, BRANCH, "develop", "into another branch", ""),
        Pull(3, "mine", "main", "without a body", None),
    ]
    assert list(connected(server).pulls("main")) == [
        PullRequest(branch="mine", title="without a body", body="", number=3)
    ]


def test_every_page_of_a_list_is_read(server: ForgeServer) -> None:
    server.pulls += [Pull(n, f"b{n}", "main", "t", "x") for n in range(1, 232)]
    assert [pull.number for pull in connected(server).pulls("main")] == list(range(1, 232))


def test_the_newest_status_of_each_context_counts(server: ForgeServer) -> None:
    forge = connected(server)
    first = CommitStatus(context="gitfleet/web", state=StatusState.PENDING, description="it waits")
    last = CommitStatus(context="gitfleet/web", state=StatusState.SUCCESS, description="rolled out")
    other = CommitStatus(context="gitfleet/go/canary", state=StatusState.FAILURE, description="failed")
    for status in (first, other, last):
        forge.set_status(HEAD, status)
    assert {one.context: one for one in forge.statuses(HEAD)} == {one.context: one for one in (last, other)}
    assert list(forge.statuses(server.branches["main"])) == []


def test_another_description_of_the_same_state_is_no_error(server: ForgeServer) -> None:
    forge = connected(server)
    for text in ("one", "two"):
        forge.set_status(HEAD, CommitStatus(context="gitfleet/web", state=StatusState.PENDING, description=text))
    (shown,) = forge.statuses(HEAD)
    assert ("two" in shown.description) is (server.dialect != "gitlab")


def test_comments_are_added_and_replaced(server: ForgeServer) -> None:
    forge = connected(server)
    number = forge.open_pull(WANTED, "main").number
    for text in ("one", "two"):
        forge.write_comment(number, Comment(id=0, body=text))
    first, second = forge.comments(number)
    forge.write_comment(number, Comment(id=first.id, body="three"))
    assert [one.body for one in forge.comments(number)] == ["three", second.body]


HTML = Reply(200, b"<!DOCTYPE html><title>Sign in</title>", {"Content-Type": "text/html"})
ERRORS: dict[str, tuple[Reply, type[GitfleetError], str, float | None]] = {
    "another token": (
        Reply(401, {"message": "Bad credentials"}),
        Forbidden,
        ForgeText.REFUSES_TOKEN(status="", why="401, Bad cred"),
        None,
    ),
    "a right is missing": (
        Reply(403, {"message": "Resource not accessible by personal access token"}),
        Forbidden,
        ForgeText.REFUSES_TOKEN(status="", why="403, Resource not accessible"),
        None,
    ),
    "a rate limit": (
        Reply(403, {"message": "API rate limit exceeded for user ID 1."}, {"Retry-After": "77"}),
        ForgeUnavailable,
        "answers 403, API rate limit exceeded",
        77.0,
    ),
    "a second rate limit": (
        Reply(403, {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}),
        ForgeUnavailable,
        "answers 403, You have exceeded a secondary rate limit",
        None,
    ),
    "too many requests": (
        Reply(429, {"message": "Too Many"}, {"Retry-After": "5"}),
        ForgeUnavailable,
        "429",
        5.0,
    ),
    "no such repository": (Reply(404, {"message": "Not Found"}), BadInput, "refuses a request: 404, Not Found", None),
    "a conflict": (Reply(409, {"message": ["Another one exists"]}), BadInput, "Another one exists", None),
    "invalid": (
        Reply(422, {"message": "Validation Failed", "errors": [{"field": "head"}]}),
        BadInput,
        "422, Validation Failed, [{'field': 'head'}]",
        None,
    ),
    "a defect": (Reply(500, b"oops", {"Content-Type": "text/plain"}), ForgeUnavailable, "answers 500", None),
    "a bad gateway": (Reply(502, HTML.body, HTML.headers), ForgeUnavailable, "answers 502", None),
    "a web page": (HTML, ForgeUnavailable, ForgeText.ANSWERS_NO_JSON(status="200", get="text/html"), None),
    "accepted for later": (
        Reply(202, {"message": "later"}),
        ForgeUnavailable,
        ForgeText.ANSWERS_NO_JSON(status=202, get="application/json"),
        None,
    ),
    "half of a document": (Reply(200, b'[{"number": 1'), ForgeUnavailable, part(ForgeText.ANSWERS_NO_JSON), None),
    "a deep document": (Reply(200, b"[" * 100_000), ForgeUnavailable, part(ForgeText.ANSWERS_NO_JSON), None),
    "a deep refusal": (Reply(404, b'{"a":' * 100_000), BadInput, "refuses a request: 404 (", None),
    "a number without an end": (Reply(200, b"[" + b"9" * 5000 + b"]"), ForgeUnavailable, "", None),
    "a wait that is no number": (Reply(503, {}, {"Retry-After": "\xb2"}), ForgeUnavailable, "answers 503", None),
    "a wait without an end": (
        Reply(403, {}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 400}),
        ForgeUnavailable,
        "answers 403",
        float("inf"),
    ),
    "too large": (
        Reply(200, b" " * (MOST_BYTES + 1)),
        ForgeUnavailable,
        ForgeText.ANSWERS_MORE_MIB(most_bytes="4"),
        None,
    ),
    "compressed": (Reply(200, b"x", {"Content-Encoding": "gzip"}), ForgeUnavailable, "compressed", None),
    "it moved": (
        Reply(301, b"", {"Location": "https://elsewhere.example/api"}),
        Forbidden,
        ForgeText.REDIRECTS_ANOTHER_ADDRESS(),
        None,
    ),
    "a login page": (Reply(302, b"", {"Location": "/login"}), Forbidden, ForgeText.REDIRECTS_ANOTHER_ADDRESS(), None),
}


@pytest.mark.parametrize(("reply", "kind", "text", "after"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("call", ["read", "write"])
def test_every_error_is_one_of_three_and_names_the_forge(
    server: ForgeServer, call: str, reply: Reply, kind: type[GitfleetError], text: str, after: float | None
) -> None:
    forge = connected(server)
    server.always = reply
    with pytest.raises(GitfleetError) as caught:
        if call == "read":
            list(forge.pulls("main"))
        else:
            forge.open_pull(WANTED, "main")
    assert type(caught.value) is kind
    assert f" {server.url.removeprefix('http://')} " in str(caught.value)
    assert text in str(caught.value)
    assert len(server.seen) == 1, "it asked again, or somewhere else"
    assert getattr(caught.value, "after", None) == after


def places(body: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every value of a body."""
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, *path, key)


def with_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a body with another value at one place; ABSENT takes it away."""
    made = json.loads(json.dumps(body))
    where = reduce(operator.getitem, path[:-1], made)
    if value is ABSENT:
        del where[path[-1]]
    else:
        where[path[-1]] = value
    return made


ABSENT = object()
WRONG: Final = (ABSENT, None, 7)
CALLS: dict[str, Callable[[Forge], Iterable[object]]] = {
    "open pulls": lambda forge: forge.pulls("main"),
    "closed pulls": lambda forge: forge.pulls("main", "closed"),
    "statuses": lambda forge: forge.statuses(HEAD),
    "comments": lambda forge: forge.comments(1),
    "open": lambda forge: [forge.open_pull(WANTED, "main")],
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_response_of_another_shape_is_an_error_and_never_a_value_of_another_type(
    server: ForgeServer, call: Callable[[Forge], Iterable[object]]
) -> None:
    """Whatever stands in the place of whichever value, a forge gives what it promises or says that it cannot."""
    forge, pulls = connected(server), [Pull(1, "mine", "main", "t", "b"), Pull(2, "closed", "main", "t", "b", "closed")]
    server.statuses.append((HEAD, "gitfleet/web", "success", "rolled out"))
    server.comments[1], server.pulls = [(1, "text")], list(pulls)
    (sound,) = call(forge)
    ended = Counter[bool]()
    for asked, sent in list(server.sent.items()):
        for path in places(sent):
            for value in WRONG:
                server.pulls, server.distorted = list(pulls), {asked: with_value(sent, path, value)}
                try:
                    rows = list(call(forge))
                except ForgeUnavailable as error:
                    assert part(ForgeText.ANSWERS_OTHERWISE_API_SAYS) in str(error), (path, value)
                    ended[False] += 1
                    continue
                ended[True] += 1
                for row in rows:
                    found = {name: type(getattr(row, name)) for name in get_type_hints(type(row))}
                    assert (type(row), found) == (type(sound), get_type_hints(type(sound))), (path, value, row)
    assert ended[True] and ended[False]


def test_the_time_of_a_used_up_rate_limit_is_what_is_waited() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1060"}
    error = error_of(403, headers, b"{}", now=1000.0)
    assert isinstance(error, ForgeUnavailable) and error.after == 60.0
    assert isinstance(error_of(403, {**headers, "x-ratelimit-remaining": "1"}, b"{}", now=1000.0), Forbidden)


def test_a_next_page_at_another_host_gets_no_token(server: ForgeServer) -> None:
    with serving(server.dialect) as other:
        forge = connected(server)
        there = f"{other.url.replace('127.0.0.1', 'localhost')}/api/v4/projects/acme%2Ffleet/merge_requests?page=2"
        server.pulls.append(Pull(1, "b", "main", "t", ""))
        server.next_page = there
        if server.dialect == "gitlab":  # its client asks the host that it was given
            assert [pull.branch for pull in forge.pulls("main")] == ["b"]
        else:
            with pytest.raises(Forbidden, match=re.escape(part(ForgeText.FORGE_NAMES_ADDRESSES_ANOTHER_HOST))):
                list(forge.pulls("main"))
        assert other.seen == []


def test_no_request_reaches_another_host_than_that_of_the_url(server: ForgeServer) -> None:
    with serving(server.dialect) as other, requests.Session() as session:
        session.mount("http://", ForgeAdapter(server.url, TOKEN))
        for url in (f"{other.url}/x", f"{server.url.replace('127.0.0.1', 'localhost')}/x"):
            with pytest.raises(Forbidden, match=re.escape(part(ForgeText.FORGE_NAMES_ADDRESSES_ANOTHER_HOST))):
                session.get(url)
        assert other.seen == server.seen == []


@pytest.mark.parametrize("by_proxy", [False, True])
def test_a_response_that_drips_ends_in_time(by_proxy: bool) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    with answering(head, b" " * 100_000, drip=True) as url, requests.Session() as session:
        where = "http://forge.example" if by_proxy else url
        session.mount("http://", ForgeAdapter(where, TOKEN, whole_seconds=0.3))
        why = "no whole response within 0.3 s"
        sentence = ForgeText.FORGE_NOT_ANSWER(host=where.removeprefix("http://"), why=why)
        with pytest.raises(ForgeUnavailable, match=re.escape(sentence)):
            session.get(where, proxies={"http": url} if by_proxy else None)


def test_a_token_stands_in_no_sentence(server: ForgeServer) -> None:
    forge = connected(server)
    server.always = Reply(422, {"message": f"bad header token {TOKEN}"})
    with pytest.raises(BadInput) as caught:
        forge.open_pull(WANTED, "main")
    assert TOKEN not in str(caught.value) and TOKEN not in repr(caught.value) and "***" in str(caught.value)


def test_a_server_that_is_not_there_is_asked_again_later(server: ForgeServer) -> None:
    forge = BUILT_IN[server.dialect](ForgeAccess(url="http://127.0.0.1:9", repository=REPOSITORY, token=TOKEN))
    sentence = ForgeText.FORGE_NOT_ANSWER(host="127.0.0.1:9", why="connection refused")
    with pytest.raises(ForgeUnavailable, match=re.escape(sentence)):
        list(forge.pulls("main"))


@pytest.mark.parametrize("url", ["ftp://forge.example", "https://ann:secret@forge.example", "forge.example", "http://"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_address_that_is_none_is_refused_at_once(dialect: str, url: str) -> None:
    with pytest.raises(BadInput) as caught:
        BUILT_IN[dialect](ForgeAccess(url=url, repository=REPOSITORY, token=TOKEN))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("repository", ["fleet", "acme/", "acme/fleet/deep"])
@pytest.mark.parametrize("dialect", ["github", "gitea"])
def test_a_repository_has_an_owner_and_a_name(dialect: str, repository: str) -> None:
    with pytest.raises(BadInput, match=re.escape(ForgeText.NO_REPOSITORY_HERE(repository=repository))):
        BUILT_IN[dialect](ForgeAccess(url="http://127.0.0.1:9", repository=repository, token=TOKEN))


def real(name: str) -> str:
    return os.environ.get(f"GITFLEET_TEST_FORGE_{name}", "")


@pytest.mark.skipif(not real("NAME"), reason="no real forge: set GITFLEET_TEST_FORGE_NAME, _URL, _REPO and _TOKEN")
def test_a_real_forge_has_the_api_that_the_local_server_has() -> None:
    """Reads alone: whoever names a forge here has given no word to write there."""
    access: dict[str, Any] = {"url": real("URL"), "repository": real("REPO"), "token": real("TOKEN")}
    forge = BUILT_IN[real("NAME")](ForgeAccess(**access))
    assert all(isinstance(pull, PullRequest) for pull in forge.pulls("main"))
