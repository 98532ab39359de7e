"""No command, log, status, commit or report shows a value of a Secret: a fleet full of them, and all that it prints."""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from pathlib import Path

import pytest

from gitfleet.adapters.kube.performing import Performer
from tests import builders
from tests.cli.conftest import Shell, commit, git, make_repo
from tests.sops_files import AgeKey, encrypted

CORE = re.compile(r"c4nary[0-9a-f]{2}", re.IGNORECASE)
"""Stands in every value, with a number of its own."""
COPIES = ("snapshots/", "lastgood/")
"""Of the state branch: copies of what the repo holds (docs/state-branch.md)."""


def canary(number: int) -> str:
    return f"c4nary{number:02x}"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def traces(text: str) -> set[str]:
    """Canaries in a text: as they are, encoded, in hex, and with their letters escaped or folded."""
    plain = set(CORE.findall(text)) | set(CORE.findall(re.sub(r"[\s\\\"'|]+", "", text)))
    encoded = {
        found
        for run in re.findall(r"[A-Za-z0-9+/_-]{8,}", text)
        for shift in range(4)
        for found in CORE.findall(_decoded(run[shift:]))
    }
    in_hex = {"hex"} if b"c4nary".hex() in text else set()
    return plain | encoded | in_hex


def _decoded(run: str) -> str:
    run = run.replace("-", "+").replace("_", "/")
    return base64.b64decode(run + "A" * (-len(run) % 4)).decode("latin-1")


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME, namespace: web}\n"
INNER = (SECRET + f"stringData: {{a: {canary(1)}-inner}}\n").replace("NAME", "inner")


def secrets(version: int) -> dict[str, str | None]:
    """Files of a fleet with Secrets of every shape; their values change with the version."""

    def value(number: int) -> str:
        return f"{canary(number)}-{version}-long-enough"

    applied = json.dumps(json.dumps({"kind": "Secret", "data": {"a": b64(value(2))}}))
    text = json.dumps(f'{value(3)} "quoted" <and> \\\\ escaped\n  line of {value(4)}\n')
    bodies = {
        "plain": f"stringData: {{a: {value(5)}, b: {text}, port: '5432'}}\n",
        "encoded": f"data: {{a: {b64(value(6))}, b: {b64(chr(255) + value(7))}}}\n",
        "block": f"stringData:\n  a: |\n    first\n    {value(8)}\n  b: >-\n    {value(9)}\n    folded\n",
        "annotated": f"stringData: {{a: {value(10)}}}\n",
        "patched": f"stringData: {{a: {value(11)}}}\n",
        "typed": f"type: kubernetes.io/basic-auth\nstringData: {{username: admin, password: {value(12)}}}\n",
    }
    files: dict[str, str | None] = {
        f"resources/web/{name}.yaml": SECRET.replace("NAME", name) + body for name, body in bodies.items()
    }
    note = (
        f"namespace: web, annotations: {{kubectl.kubernetes.io/last-applied-configuration: {applied}, x: {value(13)}}}"
    )
    annotated = str(files["resources/web/annotated.yaml"])
    files["resources/web/annotated.yaml"] = annotated.replace("namespace: web", note)
    files["resources/web/list.yaml"] = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Secret",
         "metadata": {"name": "listed", "namespace": "web"}, "data": {"a": b64(value(14))}}]}
    )  # fmt: skip
    files["resources/web/envelope.yaml"] = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: envelope\n  namespace: web\n"
        "  annotations: {kubernetes-fleet.io/envelope-configmap: 'true'}\n"
        f"data:\n  s.yaml: {json.dumps(INNER + f'data: {{b: {b64(value(15))}}}')}\n"
    )
    files["resources/web/envelope2.yaml"] = (
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ResourceEnvelope\n"
        "metadata: {name: e2, namespace: web}\n"
        "data:\n  s.yaml:\n    apiVersion: v1\n    kind: Secret\n    metadata: {name: inner2, namespace: web}\n"
        f"    stringData: {{a: {value(16)}}}\n"
    )
    files["resources/web/text.yaml"] = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: text, namespace: web}\n"
        f"data:\n  s.yaml: {json.dumps(INNER + f'immutable: {value(17)}')}\n"
    )
    files["overrides/secret.yaml"] = (
        "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ResourceOverride\n"
        "metadata: {name: secret, namespace: web}\nspec:\n"
        "  resourceSelectors: [{group: '', version: v1, kind: Secret, name: patched}]\n"
        "  policy: {overrideRules: [{clusterSelector: {clusterSelectorTerms: []}, jsonPatchOverrides: [\n"
        f"    {{op: add, path: /stringData/b, value: {value(18)}}}]}}]}}\n"
    )
    return files


BROKEN: dict[str, str | None] = {
    "resources/web/wrong.yaml": SECRET.replace("NAME", "wrong") + f"data: {canary(32)}-scalar\n",
    "resources/web/wrong2.yaml": SECRET.replace("NAME", "wrong2") + f"data: {{a: {canary(33)}-not-base64}}\n",
    "resources/web/wrong3.yaml": SECRET.replace("NAME", "wrong3") + f"stringData: {{a: [{canary(34)}]}}\n",
    "resources/web/wrong4.yaml": SECRET.replace("NAME", "wrong4") + f"stringData: {{a: {canary(35)}: b\n",
    "resources/web/wrong5.yaml": SECRET.replace("NAME", "wrong5") + f"stringData:\n\t a: {canary(36)}\n",
    "resources/web/wrong6.yaml": SECRET.replace("NAME", "wrong6") + f"stringData: {{a: !!int {canary(37)}}}\n",
    "resources/web/wrong7.yaml": SECRET.replace("NAME", "wrong7") + f"stringData: {{a: *{canary(38)}}}\n",
    "resources/web/wrong8.yaml": '{"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "' + canary(39) + '\n"}}',
    "resources/app/kustomization.yaml": f"secretGenerator: [{{name: s, literals: ['{canary(40)}']}}]\n",
    "overrides/wrong.yaml": "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ResourceOverride\n"
    "metadata: {name: wrong, namespace: web}\nspec:\n"
    "  resourceSelectors: [{group: '', version: v1, kind: Secret, name: plain}]\n"
    "  policy: {overrideRules: [{clusterSelector: {clusterSelectorTerms: []}, jsonPatchOverrides: [\n"
    f"    {{op: put, path: /data/{canary(41)[:0]}x, value: {canary(41)}}}]}}]}}\n",
    "resources/web/envelope3.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: envelope3\n  namespace: web\n"
    "  annotations: {kubernetes-fleet.io/envelope-configmap: 'true'}\n"
    f"data:\n  s.yaml: {json.dumps(SECRET + f'stringData: [{canary(42)}')}\n",
}


class Outputs:
    """Everything that was printed, by command."""

    def __init__(self, gitfleet: Shell) -> None:
        self._gitfleet = gitfleet
        self.texts: dict[str, str] = {}

    def run(self, *words: str | Path) -> str:
        """Run a command and keep what it prints."""
        ended = self._gitfleet(*words)
        text = ended.out + ended.err
        self.texts[f"{len(self.texts)}: {' '.join(map(str, words))}"] = text
        return text

    def shown(self) -> dict[str, set[str]]:
        """The commands that show a canary, with the canaries."""
        return {words: found for words, text in self.texts.items() if (found := traces(text))}


def everything(outputs: Outputs, repo: Path, folder: Path) -> None:
    """Every command that prints, but `render`, which is there to write manifests."""
    for output in ("text", "json", "github", "sarif"):
        outputs.run("validate", repo, "-o", output)
    for output in ("text", "json", "markdown"):
        outputs.run("plan", repo, "-o", output)
    for kind in ("crp", "mc", "bindings", "snapshots", "policies", "cro", "ro", "strategies"):
        for output in ("wide", "yaml"):
            outputs.run("get", kind, "-C", repo, "-o", output)
    for name in ("crp web", "ro secret", "mc eu-west-1"):
        outputs.run("describe", *name.split(), "-C", repo)
    for output in ("wide", "json"):
        outputs.run("explain", "web", "-C", repo, "-o", output)
    for output in ("text", "json"):
        outputs.run("diff", "web", "-C", repo, "-o", output)
        outputs.run("diff", "web", "--snapshots", "0", "1", "-C", repo, "-o", output)
    outputs.run("simulate", repo, "-o", "jsonl", "--save", folder / "page.html")
    outputs.texts[f"{len(outputs.texts)}: page"] = (folder / "page.html").read_text()


def state_texts(repo: Path, *, copies: bool = False) -> dict[str, str]:
    """Every commit message and file of every commit of the state branch, without copies of the repo's files unless they
    are asked for."""
    texts = {"messages": git(repo, "log", "--format=%B%n%an", "gitfleet/state")}
    left_out = () if copies else [f":(exclude){path}" for path in COPIES]
    for one in git(repo, "rev-list", "gitfleet/state").split():
        texts[one] = git(repo, "grep", "-h", "--text", "-e", "", one, "--", ".", *left_out)
    return texts


def test_the_test_sees_a_canary_in_whatever_form() -> None:
    value = f"x{canary(7)}y"
    forms = (
        value,
        b64(value),
        b64("a" + value),
        b64("ab" + value),
        value.encode().hex(),
        value[:3] + "\n  " + value[3:],
    )
    assert all(traces(f"says {form}!") for form in forms)
    assert not traces("says nothing")


def test_no_output_shows_a_value_of_a_secret(
    gitfleet: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, outputs = make_repo(tmp_path / "fleet"), Outputs(gitfleet)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    commit(repo, secrets(1), "Secrets")
    assert "inner2" in outputs.run("plan", repo), "the Secrets are placed"
    outputs.run("run", repo, "--until-settled", "-o", "jsonl")
    commit(repo, secrets(2), "Other values")
    assert "(changed)" in outputs.run("plan", repo, "-o", "markdown")
    everything(outputs, repo, tmp_path)
    with monkeypatch.context() as failing:
        for place in (f"{Performer.__module__}.Performer._apply", "gitfleet.works.compiled.CompiledPatch.apply"):
            failing.setattr(place, _quoting)
        outputs.run("run", repo, "--once", "-o", "json")
        failing.setattr("gitfleet.loop.workspace.Workspace.faults_at", _quoting)
        assert "unexpected error" in outputs.run("validate", repo)
    outputs.run("run", repo, "--until-settled")
    commit(repo, BROKEN, "Mistakes")
    outputs.run("run", repo, "--once")
    everything(outputs, repo, tmp_path)
    outputs.texts["log"] = caplog.text
    saved = [*Path(os.environ["XDG_CACHE_HOME"]).rglob("reports/*"), *tmp_path.glob("gitfleet-report-*")]
    outputs.texts |= {str(path): path.read_text() for path in saved if path.is_file()}
    assert len(saved) > 1, "the failures are reported, in the cache and where the command failed"
    assert outputs.shown() == {}
    assert {place: found for place, text in state_texts(repo).items() if (found := traces(text))} == {}


def encrypted_secrets(version: int, key: AgeKey) -> dict[str, str | None]:
    """Files of a fleet with Secrets that SOPS encrypted, one of them patched; their values change with the version."""
    values = [f"{canary(64 + number)}-{version}-long-enough" for number in range(5)]
    one = builders.secret("web", "one", {"a": values[0], "b": "5432"})
    two = {**builders.an_object("v1", "Secret", "two", namespace="web"), "data": {"a": b64(values[1])}}
    three = builders.secret("web", "three", {"a": f"first\n{values[2]}\n", "b": values[3]})
    patch = {"op": "replace", "path": "/stringData/b", "value": "patched"}
    return {
        "resources/web/sops-one.yaml": encrypted(one, to=key),
        "resources/web/sops-more.yaml": encrypted(two, three, to=key),
        "overrides/sops.yaml": builders.to_yaml(
            builders.override("sops", "Secret/three", builders.override_rule(patch))
        ),
    }


@pytest.mark.soak("real")
def test_no_output_and_no_file_has_a_value_that_sops_encrypted(
    gitfleet: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unlike those of plain Secrets, these stand in no copy on the state branch, no cache and nothing rendered."""
    repo, outputs, key = make_repo(tmp_path / "fleet"), Outputs(gitfleet), AgeKey()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with_key = ("--sops-age-key-file", key.file(tmp_path))
    commit(repo, encrypted_secrets(1, key), "Secrets")
    assert "three" in outputs.run("plan", repo), "the Secrets are placed, as a laptop without the key sees it"
    assert "was given no key" in outputs.run("run", repo, "--once")
    outputs.run("run", repo, "--until-settled", "-o", "jsonl", *with_key)
    simulated = Path(os.environ["XDG_CACHE_HOME"], "gitfleet", "repos")
    kept = "".join(path.read_text() for path in simulated.rglob("simulated/**/*") if path.is_file())
    assert {canary(64), canary(65), canary(66)} <= traces(kept), "clusters have the values"
    assert canary(67) not in traces(kept), "which an override replaced"
    commit(repo, encrypted_secrets(2, key), "Other values")
    outputs.run("render", repo, "--out", tmp_path / "rendered")
    assert "ENC[" in "".join(path.read_text() for path in (tmp_path / "rendered").rglob("*secret*_one.yaml"))
    with monkeypatch.context() as failing:
        failing.setattr(f"{Performer.__module__}.Performer._apply", _quoting)
        outputs.run("run", repo, "--once", "-o", "json", *with_key)
        failing.setattr("gitfleet.payload.encrypted_secrets.EncryptedSecrets._decrypted", _quoting)
        outputs.run("run", repo, "--once", "-o", "json", *with_key)
    outputs.run("run", repo, "--until-settled", *with_key)
    broken = {path: str(text).replace("namespace: web", "namespace: web2")
              for path, text in encrypted_secrets(3, key).items() if "sops-" in path}  # fmt: skip
    commit(repo, {**broken, "resources/web/wrong.yaml": encrypted(SHORT, to=AgeKey())}, "Mistakes")
    assert "has another MAC" in outputs.run("run", repo, "--once", *with_key)
    everything(outputs, repo, tmp_path)
    outputs.texts["log"] = caplog.text
    found = {str(path): path for path in tmp_path.rglob("*") if path.is_file()}
    found |= {str(path): path for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()}
    outputs.texts |= {
        name: path.read_bytes().decode("latin-1") for name, path in found.items() if "/simulated/" not in name
    }
    texts = {**outputs.texts, **state_texts(repo, copies=True)}
    shown = {place: those for place, text in texts.items() if (those := traces(text) & SOPS)}
    assert shown == {}


SHORT = builders.secret("web", "wrong", {"a": f"{canary(69)}-never-decrypted"})
SOPS = {"hex", *(canary(number) for number in range(64, 70))}


def _quoting(*given: object) -> None:
    """A defect whose message repeats what it was given."""
    raise RuntimeError(f"cannot do {canary(48)} {given}")
