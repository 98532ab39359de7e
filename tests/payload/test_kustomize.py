"""What a kustomization may read, when it is built, and what happens to its objects when it cannot be."""

from __future__ import annotations

import pytest

from gitfleet.api.folders import FOLDER_FILE
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import BadInput, MissingPart, RetryLater
from gitfleet.payload.kustomizations import without_secrets
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.caches import BlobCache
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.branches.commits import MOMENT, Commits, config_map, values
from tests.payload.kustomizations import RecordingBuilder, builds_with

APP = "resources/app"
EVERY_REFERENCE = """\
resources: [a.yaml, ../../bases/one, more/]
bases: [../../bases/two]
components: [../../components/c]
crds: [crd.yaml]
configurations: [conf.yaml]
transformers: [t.yaml]
generators: [g.yaml]
validators: [v.yaml]
patches: [{path: p.yaml}, {patch: "- op: remove"}, {target: {kind: X}, path: p2.yaml}]
patchesJson6902: [{path: p3.json, target: {}}]
patchesStrategicMerge: [s.yaml, "apiVersion: v1\\nkind: ConfigMap\\n", "{inline: true}"]
replacements: [{path: r.yaml}, {source: {}}]
configMapGenerator: [{name: c, files: [f.txt, key=g.txt], envs: [e.env], literals: [a=b]}]
secretGenerator: [{name: s, files: [k=s.txt], env: s.env}]
openapi: {path: schema.json}
images: [{name: a.yaml, newTag: x.yaml}]
"""
NAMED = (
    "a.yaml more/m.yaml more/kustomization.yaml crd.yaml conf.yaml t.yaml g.yaml v.yaml p.yaml p2.yaml p3.json s.yaml "
    "r.yaml f.txt g.txt e.env s.txt s.env schema.json kustomization.yaml"
)


def tree_of(files: dict[str, str]) -> tuple[MemoryRepo, str]:
    repo = MemoryRepo()
    return repo, repo.commit_files("main", files, MOMENT)


class Fleet(Commits):
    """Commits of a repo whose kustomize folders are built by a recording builder."""

    def __init__(self) -> None:
        self.builder = RecordingBuilder()
        super().__init__(make_trees=self.trees_of)

    def trees_of(self, repo: MemoryRepo, cache: BlobCache) -> DesiredTrees:
        return DesiredTrees(repo, cache, Limits(), builds=builds_with(self.builder))


def alone() -> tuple[MemoryRepo, RecordingBuilder, DesiredTrees]:
    """One process on an empty repo."""
    repo, builder = MemoryRepo(), RecordingBuilder()
    return repo, builder, DesiredTrees(repo, MemoryCache(), Limits(), builds=builds_with(builder))


def test_every_path_that_a_kustomization_names_is_given_to_the_build_and_nothing_else() -> None:
    files = {f"{APP}/{name}": "x: 1\n" for name in NAMED.split()}
    plugin = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: x}\n"
    files |= {f"{APP}/{name}": plugin for name in ("t.yaml", "g.yaml", "v.yaml")}
    files |= {
        f"{APP}/kustomization.yaml": EVERY_REFERENCE,
        f"{APP}/more/kustomization.yaml": "resources: [m.yaml]\n",
        "bases/one/kustomization.yml": "resources: [../deep]\n",
        "bases/deep/Kustomization": "resources: [d.yaml]\n",
        "bases/deep/d.yaml": "x: 1\n",
        "bases/two/kustomization.yaml": "{}\n",
        "components/c/kustomization.yaml": "kind: Component\npatches: [{path: cp.yaml}]\n",
        "components/c/cp.yaml": "x: 1\n",
        f"{APP}/unnamed.yaml": "x: 1\n",
        "gitfleet.yaml": "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n",
    }
    repo, commit = tree_of(files)
    builder = RecordingBuilder()
    trees = DesiredTrees(repo, MemoryCache(), Limits(), builds=builds_with(builder))
    desired = trees.at(commit, Fleet().state)
    message = DesiredText.FILES_FOLDER_NOT_READ(files="unnamed.yaml", ignore_file=".gitfleetignore")
    assert [str(fault) for fault in desired.faults] == [f"{APP}/kustomization.yaml:1: {message}"]
    ((folder, given),) = builder.builds
    outside = {"bases/one/kustomization.yml", "bases/deep/Kustomization", "bases/deep/d.yaml",
               "bases/two/kustomization.yaml", "components/c/kustomization.yaml", "components/c/cp.yaml"}  # fmt: skip
    assert folder == APP
    assert set(given) == outside | {f"{APP}/{name}" for name in NAMED.split()}
    folders = {APP, f"{APP}/more", "bases/one", "bases/deep", "bases/two", "components/c"}
    assert {folder: set(made_of) for folder, made_of in desired.sources.items()} == {APP: set(given) | folders}


@pytest.mark.parametrize(
    ("reference", "fault"),
    [
        *[
            (reference, PayloadText.NAMES_ONLY_FILES_REPO_BUILT(reference=reference))
            for reference in (
                "../../../etc/passwd",
                "/etc/passwd",
                "https://example.com/x.yaml",
                "git@example.com:o/r",
                "ssh://git@example.com/o/r",
                "github.com/o/r//base?ref=v1",
            )
        ],
        ("absent.yaml", PayloadText.NAMES_NOT_REPO(target=f"{APP}/absent.yaml")),
        ("../plain", PayloadText.NAMES_NOT_REPO(target="resources/plain")),
        ("link.yaml", PayloadText.NAMES_NO_ORDINARY_FILE(target=f"{APP}/link.yaml")),
        ("linked/x.yaml", PayloadText.NAMES_NOT_REPO(target=f"{APP}/linked/x.yaml")),
    ],
)
def test_what_lies_outside_is_refused_with_its_path(reference: str, fault: str) -> None:
    repo, builder, trees = alone()
    repo.commit_files(
        "main", {f"{APP}/kustomization.yaml": f'resources: ["{reference}"]\n', "resources/plain/x.txt": ""}, MOMENT
    )
    repo.put_entry("main", f"{APP}/link.yaml", "120000", b"../../../etc/passwd", MOMENT)
    commit = repo.put_entry("main", f"{APP}/linked", "120000", b"..", MOMENT)
    found = [str(one) for one in trees.at(commit, Fleet().state).faults if "kustomization.yaml:" in str(one)]
    assert found == [f"{APP}/kustomization.yaml:1: {fault}"]
    assert builder.builds == []


@pytest.mark.parametrize(
    "plugin",
    [
        "kind: PatchTransformer\npath: {}\n",
        "kind: ConfigMapGenerator\nfiles: ['key={}']\n",
        "kind: ReplacementTransformer\nreplacements: [{{path: {}}}]\n",
    ],
)
def test_the_configuration_of_a_plug_in_reads_nothing_else_either(plugin: str) -> None:
    repo, builder, trees = alone()
    for reference, refused in (("https://example.com/x", True), ("../../../x", True), ("there.txt", False)):
        text = "apiVersion: builtin\n" + plugin.format(reference)
        files = {f"{APP}/kustomization.yaml": "transformers: [t.yaml]\n", f"{APP}/t.yaml": text, f"{APP}/there.txt": ""}
        desired = trees.at(repo.commit_files("main", files, MOMENT), Fleet().state)
        fault = PayloadText.NAMES_ONLY_FILES_REPO_BUILT(reference=reference)
        assert [fault in one.message for one in desired.faults] == ([True] if refused else [])
    ((_, given),) = builder.builds
    assert f"{APP}/there.txt" in given


def test_a_base_yields_nothing_of_its_own() -> None:
    fleet = Fleet()
    desired = fleet.push(
        {
            "resources/base/kustomization.yaml": "resources: [a.yaml]\n",
            "resources/base/a.yaml": config_map("a", "1"),
            "resources/prod/kustomization.yaml": "resources: [../base]\n",
        }
    )
    assert values(desired) == {"a": "1"}
    assert [manifest.origin.path for manifest in desired.payload] == ["resources/prod/kustomization.yaml"]
    assert set(fleet.builder.folders) == {"resources/prod"}


@pytest.mark.parametrize("broken", ["resources: [../base\n", "resources: [../base, ../base, gone.yaml]\n"])
def test_a_base_does_not_come_to_life_when_what_builds_on_it_breaks(broken: str) -> None:
    fleet = Fleet()
    fleet.push(
        {
            "resources/base/kustomization.yaml": "resources: [a.yaml]\n",
            "resources/base/a.yaml": config_map("a", "1"),
            "resources/prod/kustomization.yaml": "resources: [../base]\n",
            "resources/other/kustomization.yaml": "resources: [b.yaml]\n",
            "resources/other/b.yaml": config_map("b", "1"),
        }
    )
    fleet.builder.builds.clear()
    desired = fleet.push({"resources/prod/kustomization.yaml": broken, "resources/other/b.yaml": config_map("b", "2")})
    assert values(desired) == {"b": "2"}, "only what was placed can be held: see the scenario"
    assert "resources/base" not in fleet.builder.folders
    assert "resources/prod/kustomization.yaml" in {fault.path for fault in desired.faults}


def test_only_a_change_of_what_was_read_costs_a_build() -> None:
    repo, builder, trees = alone()
    files: dict[str, str | None] = {
        f"{APP}/kustomization.yaml": "resources: [a.yaml]\n",
        f"{APP}/a.yaml": config_map("a", "1"),
        f"{APP}/README.md": "text",
        "resources/two/kustomization.yaml": "resources: [b.yaml]\n",
        "resources/two/b.yaml": config_map("b", "1"),
        "clusters/c.yaml": "",
    }
    state = Fleet().state
    trees.at(repo.commit_files("main", files, MOMENT), state)
    assert sorted(builder.folders) == [APP, "resources/two"]
    for change in ({f"{APP}/README.md": "other"}, {"clusters/c.yaml": "# x\n"}, {f"{APP}/unnamed.yaml": "x: 1\n"}):
        builder.builds.clear()
        trees.at(repo.commit_files("main", change, MOMENT), state)
        assert builder.builds == [], change
    changed = repo.commit_files("main", {f"{APP}/a.yaml": config_map("a", "2")}, MOMENT)
    assert values(trees.at(changed, state)) == {"a": "2", "b": "1"}
    assert builder.folders == [APP]
    # Going back one commit costs nothing either: two trees are kept.
    builder.builds.clear()
    trees.at(repo.commit_files("main", {f"{APP}/a.yaml": config_map("a", "1")}, MOMENT), state)
    assert builder.folders == []


def test_an_ignored_folder_is_not_built() -> None:
    fleet = Fleet()
    files: dict[str, str | None] = {
        ".gitfleetignore": "resources/charts/\n",
        "resources/charts/x/kustomization.yaml": "resources: [gone.yaml]\n",
        "resources/.hidden/kustomization.yaml": "resources: [gone.yaml]\n",
        f"{APP}/kustomization.yaml": "resources: [../charts/base]\n",
        "resources/charts/base/kustomization.yaml": "resources: [a.yaml]\n",
        "resources/charts/base/a.yaml": config_map("a"),
    }
    desired = fleet.push(files)
    assert (values(desired), desired.faults) == ({"a": "v"}, ())
    assert set(fleet.builder.folders) == {APP}


def test_a_fault_of_the_output_stands_at_the_kustomization() -> None:
    fleet = Fleet()
    desired = fleet.push(
        {
            f"{APP}/kustomization.yaml": "# one\n# two\nresources: [a.yaml, b.yaml]\n",
            f"{APP}/a.yaml": "\n\n" + config_map("a", "1"),
            f"{APP}/b.yaml": "\n\n\n" + config_map("b", "1", namespace=""),
        }
    )
    sentence = DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind="ConfigMap", folder_file=FOLDER_FILE)
    assert [str(fault) for fault in desired.faults] == [
        f"{APP}/kustomization.yaml:1: " + DesiredText.FOLDER_PLACED_WHOLE(count="1 object"),
        f"{APP}/kustomization.yaml:1: ConfigMap/b: metadata.namespace: {sentence}",
    ]
    assert values(desired) == {}


@pytest.mark.parametrize(
    "error", [MissingPart("cannot be built, because there is no kustomize; install it"), BadInput("kustomize says: no")]
)
def test_a_build_that_fails_is_a_fault_and_no_crash(error: MissingPart | BadInput) -> None:
    fleet = Fleet()
    fleet.builder.fails[APP] = error
    desired = fleet.push({f"{APP}/kustomization.yaml": "{}\n", "resources/b.yaml": config_map("b")})
    assert [str(fault) for fault in desired.faults] == [f"{APP}/kustomization.yaml:1: {error}"]
    assert values(desired) == {"b": "v"}


def test_a_build_that_was_ended_early_is_tried_again_and_a_refused_one_is_not() -> None:
    repo, builder, trees = alone()
    commit = repo.commit_files("main", {f"{APP}/kustomization.yaml": "{}\n"}, MOMENT)
    state = Fleet().state
    builder.fails[APP] = RetryLater("kustomize was ended before it was done")
    assert len(trees.at(commit, state).faults) == 1
    builder.fails[APP] = BadInput("kustomize says: no")
    assert [fault.message for fault in trees.at(commit, state).faults] == ["kustomize says: no"]
    builder.fails.clear()
    assert len(trees.at(commit, state).faults) == 1
    assert builder.folders == [APP, APP]


SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\nstringData: {password: hunter2hunter2}\n"
)


@pytest.mark.parametrize(
    ("files", "message", "hidden"),
    [
        ({"k/kustomization.yaml": 'secretGenerator: [{name: s, literals: ["k=hunter2"]}]\n'}, "got 'hunter2'", True),
        ({"k/kustomization.yaml": "secretGenerator: [{name: s, envs: [../e.env]}]\n"}, "k does not exist", False),
        ({"k/kustomization.yaml": "secretGenerator: [{name: s, envs: [e.env]}]\n", "k/e.env": "a=hunter2"},
         "bad line hunter2", True),
        ({"k/kustomization.yaml": "secretGenerator: [{name: s, files: [f]}]\n", "k/f": "x hunter2"}, "hunter2", True),
        ({"k/s.yaml": SECRET}, "cannot unmarshal !!str `hunter2...` into map", True),
        ({"k/kustomization.yaml": 'configMapGenerator: [{name: s, literals: ["open"]}]\n'}, "literal open bad", False),
    ],
)  # fmt: skip
def test_no_value_of_a_secret_is_in_a_message(files: dict[str, str], message: str, hidden: bool) -> None:
    shown = without_secrets(message, "k", {path: text.encode() for path, text in files.items()})
    assert shown == (PayloadText.CANNOT_BUILT_KUSTOMIZE_SAYS_NOT(folder="k") if hidden else message)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"


@pytest.mark.parametrize("name", ["kustomization.yaml", "a.yaml", "t.yaml", "data.bin"])
def test_a_git_lfs_pointer_among_the_input_is_named(name: str) -> None:
    fleet = Fleet()
    files = {
        "kustomization.yaml": (
            "resources: [a.yaml]\ntransformers: [t.yaml]\nconfigMapGenerator: [{name: x, files: [data.bin]}]\n"
        ),
        "a.yaml": config_map("a"),
        "t.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: x}\n",
        "data.bin": "x",
    }
    desired = fleet.push({f"{APP}/{path}": text for path, text in {**files, name: POINTER}.items()})
    (fault,) = [fault for fault in desired.faults if fault.severity == "error"]
    named = "" if name == "kustomization.yaml" else f"{APP}/{name} "  # else its path stands before the message
    assert fault.message == f"{named}{PayloadText.GIT_LFS_POINTER()}"
    assert (fault.path, fault.code) == (f"{APP}/kustomization.yaml", "GIT_LFS_POINTER")
    assert fleet.builder.builds == []
