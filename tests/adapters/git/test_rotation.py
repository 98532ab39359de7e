"""Credentials that change while a process runs: files, tokens of a GitHub App; and what ssh and proxies are given."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.texts import GitText
from gitfleet.adapters.github_app import AppTokens
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput, Forbidden, MissingPart, RemoteUnreachable, RetryLater
from gitfleet.settings import GitCredentials, GitHubApp
from gitfleet.simulation.clock import ManualClock
from tests.adapters.git.hubs import STATE, change
from tests.realparts.certificates import write_server_certificate
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
OLD, NEW = "old-token-0123456789", "new-token-0123456789"
NOW = datetime(2026, 5, 1, tzinfo=UTC)
APP_ID, INSTALLATION = "4711", "42"


def test_a_token_file_is_read_at_each_use(git_http: GitHttpServer, tmp_path: Path) -> None:
    git_http.create("hub")
    git_http.credentials = ("bot", OLD)
    file = tmp_path / "token"
    file.write_text(OLD + "\n")
    credentials = GitCredentials(username="bot", password_file=file)
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror", credentials=credentials)
    head = remote.commit(change(STATE, None, {"f": b"1"}))
    git_http.credentials = ("bot", NEW)
    with pytest.raises(Forbidden) as refused:
        remote.fetch()
    assert OLD not in str(refused.value) and "Username" not in str(refused.value)
    assert str(refused.value).endswith(f"{GitText.CREDENTIALS_NOT_ACCEPTED()}.")
    file.write_text(NEW)
    assert remote.fetch() == {STATE: head}
    assert remote.clone_reader().fetch() == {STATE: head}
    file.unlink()
    with pytest.raises(MissingPart, match="No such file"):
        remote.fetch()
    file.write_text("")
    with pytest.raises(MissingPart, match=re.escape(GitText.FILE_NOT_ONE_LINE(file=file))):
        remote.fetch()


def test_a_token_that_is_replaced_between_reading_and_use(
    git_http: GitHttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal finds another token in the file: it is used at once, and nobody sees an error."""
    git_http.create("hub")
    git_http.credentials = ("bot", NEW)
    file = tmp_path / "token"
    file.write_text(OLD)

    judge = git_http.judge

    def replace_now(request: str) -> object:
        file.write_text(NEW)
        return judge(request)

    monkeypatch.setattr(git_http, "judge", replace_now)
    credentials = GitCredentials(username="bot", password_file=file)
    assert GitRemote(git_http.url("hub"), tmp_path / "mirror", credentials=credentials).fetch() == {}


@dataclass
class AppServer:
    """The one endpoint of GitHub that gives tokens of an installation; it verifies who asks by the app's public key."""

    public_key: bytes
    url: str = ""
    prefix: str = ""
    lifetime: timedelta = timedelta(hours=1)
    status: int = 201
    given: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def answer(self, path: str, authorization: str) -> tuple[int, dict[str, str]]:
        if self.status != 201:
            return self.status, {"message": "not now"}
        if path != f"{self.prefix}/app/installations/{INSTALLATION}/access_tokens":
            return 404, {"message": "Not Found"}
        try:
            said = jwt.decode(authorization.removeprefix("Bearer "), self.public_key, algorithms=["RS256"])
            assert said["iss"] == APP_ID and said["exp"] - said["iat"] <= 600
        except (jwt.PyJWTError, AssertionError) as error:
            self.refused.append(str(error))
            return 401, {"message": "A JSON web token could not be decoded"}
        self.given.append(f"ghs_token{len(self.given)}0123456789")
        until = (NOW + self.lifetime).isoformat().replace("+00:00", "Z")
        return 201, {"token": self.given[-1], "expires_at": until}


@contextmanager
def serving(server: AppServer) -> Iterator[AppServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = server.answer(self.path, self.headers.get("Authorization", ""))
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        server.url = f"http://127.0.0.1:{httpd.server_port}"
        threading.Thread(target=httpd.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        httpd.shutdown()


def new_key(file: Path) -> bytes:
    """Write a private key as GitHub makes them; its public key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    how = (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    file.write_bytes(key.private_bytes(*how))
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


@pytest.fixture
def app_server(tmp_path: Path) -> Iterator[AppServer]:
    with serving(AppServer(new_key(tmp_path / "app.pem"))) as server:
        yield server


@pytest.fixture
def app(app_server: AppServer, tmp_path: Path) -> GitHubApp:
    return GitHubApp(app_id=APP_ID, installation_id=INSTALLATION, key_file=tmp_path / "app.pem", api_url=app_server.url)


def test_a_token_of_an_app_is_kept_until_shortly_before_its_end(app: GitHubApp, app_server: AppServer) -> None:
    clock = ManualClock(NOW)
    tokens = AppTokens(app, "https://github.com/acme/fleet", clock)
    first = tokens()
    clock.advance(49 * 60)
    assert tokens() == first and app_server.given == [first]
    clock.advance(2 * 60)
    assert tokens() != first and len(app_server.given) == 2
    assert tokens(True) == app_server.given[2], "one that the remote refused is not used again"
    assert app_server.refused == []


def test_a_key_of_an_app_is_rotated_while_the_process_runs(
    app: GitHubApp, app_server: AppServer, git_http: GitHttpServer, tmp_path: Path
) -> None:
    """Over git: the token is what the server knows; both the token and the key change in the middle."""
    git_http.create("hub")
    tokens = AppTokens(app, git_http.url("hub"), ManualClock(NOW))
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror", credentials=GitCredentials(app=app), app_token=tokens)
    git_http.credentials = ("x-access-token", "ghs_token00123456789")
    head = remote.commit(change(STATE, None, {"f": b"1"}))
    assert remote.fetch() == {STATE: head} and len(app_server.given) == 1
    app_server.public_key = new_key(app.key_file)  # the old key would be refused from now on
    git_http.credentials = ("x-access-token", "ghs_token10123456789")  # and the old token is
    assert remote.commit(change(STATE, head, {"f": b"2"})) == remote.fetch()[STATE]
    assert len(app_server.given) == 2 and app_server.refused == []


def test_a_github_enterprise_server_has_its_api_beside_the_repository(app: GitHubApp, app_server: AppServer) -> None:
    app_server.prefix = "/api/v3"
    beside = replace(app, api_url="")
    assert AppTokens(beside, f"{app_server.url}/acme/fleet.git", ManualClock(NOW))() == app_server.given[0]
    for address in ("git@github.com:acme/fleet.git", "/srv/fleet"):
        with pytest.raises(BadInput, match=AdaptersText.GITHUB_APP_HTTPS_ALONE()):
            AppTokens(beside, address, ManualClock(NOW))


def test_what_keeps_an_app_from_a_token_has_a_name(app: GitHubApp, app_server: AppServer, tmp_path: Path) -> None:
    clock, remote = ManualClock(NOW), "https://github.com/acme/fleet"
    tokens = AppTokens(app, remote, clock)
    stranger = tmp_path / "stranger.pem"
    new_key(stranger)
    with pytest.raises(Forbidden, match="401"):
        AppTokens(replace(app, key_file=stranger), remote, clock)()
    with pytest.raises(Forbidden, match="404"):
        AppTokens(replace(app, installation_id="43"), remote, clock)()
    app_server.status = 503
    with pytest.raises(RetryLater, match="503"):
        tokens()
    for content in ("", "no key", "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n"):
        stranger.write_text(content)
        with pytest.raises(MissingPart, match=re.escape(AdaptersText.GITHUB_APP_KEY_NO_RSA(file=stranger))) as refused:
            AppTokens(replace(app, key_file=stranger), remote, clock)()
        assert "c2VjcmV0" not in str(refused.value)
    stranger.unlink()
    with pytest.raises(MissingPart, match="No such file"):
        AppTokens(replace(app, key_file=stranger), remote, clock)()


@contextmanager
def connect_proxy(password: str, used: list[str]) -> Iterator[str]:
    """HOST:PORT of a proxy that connects whoever has the password (as basic authentication for `user`)."""
    wanted = base64.b64encode(f"user:{password}".encode()).decode()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            if wanted not in head.decode():
                refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n"
                client.sendall(refusal + b"Connection: close\r\nContent-Length: 0\r\n\r\n")
                return
            used.append(f"{method} {target}")
            host, _, port = target.rpartition(":")
            with socket.create_connection((host, int(port))) as upstream:
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
                back.start()
                pump(client, upstream)
                back.join(5)

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_proxy_is_used_and_its_password_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    certificate = write_server_certificate(tmp_path, "git")
    used: list[str] = []
    with (
        GitHttpServer(tmp_path / "server", certificate=certificate) as server,
        connect_proxy("hunter2hunter2", used) as place,
    ):
        server.create("hub")
        target = server.url("hub").split("/")[2]
        given = GitCredentials(ca_file=certificate[0], proxy=f"http://user:hunter2hunter2@{place}")
        assert GitRemote(server.url("hub"), tmp_path / "one", credentials=given).fetch() == {}
        assert used == [f"CONNECT {target}"]
        wrong = replace(given, proxy=f"http://user:wrong-password@{place}")
        with pytest.raises((Forbidden, RemoteUnreachable)) as refused:
            GitRemote(server.url("hub"), tmp_path / "two", credentials=wrong).fetch()
        assert isinstance(refused.value, Forbidden) and "wrong-password" not in str(refused.value)
        monkeypatch.setenv("https_proxy", f"http://user:hunter2hunter2@{place}")
        assert GitRemote(server.url("hub"), tmp_path / "3", credentials=replace(given, proxy=None)).fetch() == {}
        assert len(used) == 2, "the variable counts, too"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert GitRemote(server.url("hub"), tmp_path / "4", credentials=given).fetch() == {}
        assert len(used) == 2, "and so do its exceptions"


@pytest.mark.skipif(shutil.which("ssh") is None, reason="a real part is missing: ssh is not on the PATH")
def test_ssh_trusts_no_host_that_is_not_known(tmp_path: Path) -> None:
    """As ssh itself understands what it is given, whatever the user's own settings say."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    lax = "Host *\n StrictHostKeyChecking no\n VerifyHostKeyDNS yes\n UpdateHostKeys yes\n ForwardAgent yes\n"
    (home / ".ssh" / "config").write_text(lax)
    credentials = GitCredentials(ssh_key_file=tmp_path / "a key", known_hosts_file=tmp_path / "known hosts")
    lines: list[str] = []
    for given in (None, credentials):
        command = git_environment(None, credentials=given)["GIT_SSH_COMMAND"]
        # -F stands for ~/.ssh/config, which ssh finds by the account and not by HOME.
        script = f"{command} -F {home}/.ssh/config -G git@example.org"
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env=os.environ)
        lines = done.stdout.splitlines()
        assert {"batchmode yes", "verifyhostkeydns false", "updatehostkeys false", "forwardagent no"} <= {*lines}
        assert {"stricthostkeychecking true", "stricthostkeychecking yes"} & {*lines}
    own = {f"identityfile {tmp_path}/a key", "identitiesonly yes", f"globalknownhostsfile {os.devnull}"}
    assert own <= {*lines} and f"userknownhostsfile {tmp_path}/known hosts" in lines


def test_a_server_that_repeats_the_token_of_a_file_is_masked(git_http: GitHttpServer, tmp_path: Path) -> None:
    path = git_http.create("hub")
    git_http.credentials = ("bot", OLD)
    hook = path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho 'we know {OLD}'\nexit 1\n")
    hook.chmod(0o755)
    file = tmp_path / "token"
    file.write_text(OLD)
    credentials = GitCredentials(username="bot", password_file=file)
    remote = GitRemote(git_http.url("hub"), tmp_path / "mirror", credentials=credentials)
    with pytest.raises(Forbidden) as refused:
        remote.commit(change(STATE, None, {"f": b"1"}))
    said = f"{refused.value} {refused.value.hint}"
    assert "we know" in said
    assert OLD not in said


def test_credentials_follow_no_redirect_to_another_server(tmp_path: Path) -> None:
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(str(self.headers.get("Authorization")))
            self.send_error(404)

        def log_message(self, *_: object) -> None: ...

    other = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)

    class Redirects(Elsewhere):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{other.server_port}{self.path}")
            self.end_headers()

    first = ThreadingHTTPServer(("127.0.0.1", 0), Redirects)
    for server in (other, first):
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        credentials = GitCredentials(username="bot", password=OLD)
        url = f"http://127.0.0.1:{first.server_port}/hub.git"
        remote = GitRemote(url, tmp_path / "mirror", credentials=credentials)
        with pytest.raises((BadInput, Forbidden, RemoteUnreachable)):
            remote.fetch()
    finally:
        for server in (other, first):
            server.shutdown()
            server.server_close()
    assert asked == []
