"""What a login plug-in of a kubeconfig is given, when it runs, and how it is ended."""

from __future__ import annotations

import base64
import json
import re
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.adapters.kube.kubeconfigs import parse_kubeconfig
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.clusters import SecretKey
from gitfleet.errors import BadInput, Forbidden, GitfleetError, MissingPart
from gitfleet.settings import ConnectionRules
from tests.adapters.kube.test_directory import PEM, T0, access, kubeconfig, member
from tests.texts import part


def plugin(folder: Path, script: str) -> Path:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def credential(**status: str) -> str:
    return json.dumps({"kind": "ExecCredential", "status": status})


NOT_ALLOWED = re.escape(part(KubeText.WANTS_RUN_NOT_ALLOWED))


def asks(path: Path, **more: Any) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    return kubeconfig(user={"exec": {"command": str(path), "apiVersion": version, **more}})


def test_plugins_run_only_when_allowed_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plugin(tmp_path, f"echo '{credential(token='fresh')}'")
    for allowed in ((), ("plugin",), (str(tmp_path),), ("other",)):
        with pytest.raises(BadInput, match=NOT_ALLOWED) as raised:
            access(asks(path), ConnectionRules(allowed_exec=allowed), tmp_path)
        assert raised.value.hint == KubeText.START_GITFLEET_ALLOW_EXEC_IF(command=path)
    _, login = access(asks(path), ConnectionRules(allowed_exec=(str(path),)), tmp_path)
    assert login.current().headers["Authorization"] == "Bearer fresh"
    by_name = kubeconfig(user={"exec": {"command": "plugin"}})
    with pytest.raises(MissingPart, match=re.escape(KubeText.CREDENTIAL_PLUG_NOT_PATH(command="plugin"))):
        access(by_name, ConnectionRules(allowed_exec=("plugin",)), tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    _, login = access(by_name, ConnectionRules(allowed_exec=("plugin",)), tmp_path)
    assert login.current().headers["Authorization"] == "Bearer fresh"


def test_a_path_allows_no_program_of_its_name_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plugin(tmp_path, f"echo '{credential(token='fresh')}'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(BadInput, match=NOT_ALLOWED):
        access(kubeconfig(user={"exec": {"command": "plugin"}}), ConnectionRules(allowed_exec=(str(path),)), tmp_path)


def test_a_plugin_is_asked_again_when_its_login_expires(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    answer = credential(token="t$N", expirationTimestamp=(T0 + timedelta(minutes=10)).isoformat())
    script = f'echo x >> "$COUNTER"; N=$(wc -l < "$COUNTER" | tr -d " "); cat <<EOF\n{answer}\nEOF'
    path = plugin(tmp_path, script)
    body = asks(path, env=[{"name": "COUNTER", "value": str(counter)}])
    found = parse_kubeconfig(json.dumps(body).encode(), "k", tmp_path)
    times = [T0]
    _, login = found.access(ConnectionRules(allowed_exec=(str(path),)), lambda: times[0])
    assert login.current() is login.current()
    times[0] = T0 + timedelta(minutes=9, seconds=30)
    login.current()
    assert login.renew()
    login.current()
    assert counter.read_text() == "x\n" * 3


@pytest.mark.parametrize(
    ("script", "error", "sentence"),
    [
        ("echo no entry >&2; exit 3", Forbidden, "failed with exit code 3: no entry"),
        ("echo nonsense", MissingPart, "did not print an ExecCredential"),
        ("echo '{\"status\": null}'", MissingPart, "did not print an ExecCredential"),
        ("sleep 60", MissingPart, r"did not answer in 0\.2 s"),
        ("(sleep 60) & wait", MissingPart, r"did not answer in 0\.2 s"),
        ('echo \'{"status": {"token": 7}}\'', MissingPart, "did not print an ExecCredential"),
        ('echo \'{"status": {"token": "a\\nHost: b"}}\'', MissingPart, "did not print an ExecCredential"),
        ("exec cat /dev/zero", Forbidden, "failed with exit code -9"),
    ],
)
def test_a_plugin_that_fails(tmp_path: Path, script: str, error: type[GitfleetError], sentence: str) -> None:
    path = plugin(tmp_path, script)
    _, login = access(asks(path), ConnectionRules(allowed_exec=(str(path),)), tmp_path)
    login.timeout_seconds = 0.2 if "sleep" in script else 60
    with pytest.raises(error, match=sentence):
        login.current()


def test_a_login_that_fails_makes_a_cluster_unreachable_with_the_reason(tmp_path: Path) -> None:
    path = plugin(tmp_path, "echo no entry >&2; exit 3")
    (tmp_path / "config").write_text(json.dumps(asks(path)))
    directory = KubeDirectory(ConnectionRules(kubeconfig=tmp_path / "config", allowed_exec=(str(path),)))
    answer = directory.client(member(context="here")).observe([])
    assert not answer.reachable and "no entry" in answer.error


def test_an_exec_plugin_of_a_secret_never_runs_though_the_operator_allows_it(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    path = plugin(tmp_path, f"touch {ran}; echo '{credential(token='fresh')}'")
    body = json.dumps(asks(path)).encode()
    allowed = ConnectionRules(
        allowed_exec=(str(path),), secret_namespaces=("fleet",), read_secret=lambda _, __, ___: body
    )
    with pytest.raises(BadInput, match=re.escape(part(KubeText.WANTS_RUN_PROGRAM))) as raised:
        KubeDirectory(allowed).client(member(kubeconfig_secret=SecretKey("fleet", "c1")))
    assert raised.value.hint == KubeText.GIVE_GITFLEET_KUBECONFIG_FILE_KUBECONFIG()
    assert not ran.exists()


def test_a_plugin_gets_path_and_what_is_listed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plugin(tmp_path, f"env > {tmp_path / 'seen'}; pwd > {tmp_path / 'folder'}; echo '{credential(token='x')}'")
    monkeypatch.setenv("GITFLEET_GIT_PASSWORD", "hunter2")
    monkeypatch.setenv("CLOUD_PROFILE", "prod")
    monkeypatch.setenv("CLOUD_OTHER", "no")
    rules = ConnectionRules(allowed_exec=(str(path),), exec_environment=("CLOUD_PROFILE", "NOT_SET"))
    _, login = access(asks(path, env=[{"name": "REGION", "value": "eu"}]), rules, tmp_path)
    login.current()
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
    of_the_shell = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert set(seen) - of_the_shell == {"PATH", "CLOUD_PROFILE", "REGION", "KUBERNETES_EXEC_INFO"}
    assert (seen["CLOUD_PROFILE"], seen["REGION"]) == ("prod", "eu")
    assert (tmp_path / "folder").read_text().strip() == str(tmp_path.resolve()), "the kubeconfig's folder"


def test_arguments_reach_a_plugin_as_they_are(tmp_path: Path) -> None:
    path = plugin(tmp_path, f"for a; do echo \"[$a]\" >> {tmp_path / 'args'}; done; echo '{credential(token='x')}'")
    _, login = access(
        asks(path, args=["a b", "$(id)", ";", "--x"]), ConnectionRules(allowed_exec=(str(path),)), tmp_path
    )
    login.current()
    assert (tmp_path / "args").read_text() == "[a b]\n[$(id)]\n[;]\n[--x]\n"


def test_what_a_plugin_complains_of_does_not_repeat_its_variables(tmp_path: Path) -> None:
    path = plugin(tmp_path, 'echo "cannot log in with $KEY" >&2; exit 1')
    body = asks(path, env=[{"name": "KEY", "value": "hunter2hunter2"}])
    _, login = access(body, ConnectionRules(allowed_exec=(str(path),)), tmp_path)
    with pytest.raises(Forbidden) as raised:
        login.current()
    assert str(raised.value).endswith("cannot log in with ***")


def test_a_bare_name_allows_no_program_beside_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, f"echo '{credential(token='fresh')}'")
    monkeypatch.chdir(tmp_path)
    for command in ("./plugin", str(tmp_path / "plugin"), f"../{tmp_path.name}/plugin"):
        with pytest.raises(BadInput, match=NOT_ALLOWED):
            access(kubeconfig(user={"exec": {"command": command}}), ConnectionRules(allowed_exec=("plugin",)), tmp_path)


def test_a_plugin_may_give_a_client_certificate_instead_of_the_kubeconfigs(tmp_path: Path) -> None:
    pair = {"clientCertificateData": "its certificate", "clientKeyData": "its key"}
    path = plugin(tmp_path, f"echo '{credential(**pair)}'")
    own = {"client-certificate-data": PEM, "client-key-data": PEM}
    body = asks(path)
    for more in ({}, own):
        body["users"][0]["user"] |= more
        _, login = access(body, ConnectionRules(allowed_exec=(str(path),)), tmp_path)
        found = login.current()
        assert (found.certificate, found.key) == ("its certificate", "its key")
        assert "Authorization" not in found.headers
    path = plugin(tmp_path, f"echo '{credential(token='fresh')}'")
    _, login = access(body, ConnectionRules(allowed_exec=(str(path),)), tmp_path)
    kept = base64.b64decode(PEM).decode()
    assert (login.current().certificate, login.current().key) == (kept, kept)
