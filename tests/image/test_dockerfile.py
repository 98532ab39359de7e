"""What the Dockerfile says, without running it; `make image-check` runs its steps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitfleet import __version__
from tests.architecture.sources import ROOT
from tests.image import rootfs
from tests.image.building import tracked
from tests.image.dockerfile import Stage, Step, config_of, filled_in, pairs, sources_of, stages_of

DOCKERFILE = ROOT / "Dockerfile"
COMPILERS = re.compile(r"\b(gcc|g\+\+|clang|build-essential|make|cmake|golang\S*|rustc|cargo|python3?-dev|libc6-dev)\b")


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return stages_of(DOCKERFILE)


@pytest.fixture(scope="module")
def final(stages: list[Stage]) -> Stage:
    return stages[-1]


def test_each_base_is_an_argument_with_a_release_for_its_tag(stages: list[Stage]) -> None:
    froms = [line for line in DOCKERFILE.read_text().splitlines() if line.startswith("FROM ")]

    assert [stage.name for stage in stages] == ["build", "tools", ""]
    assert all(re.fullmatch(r"FROM \$\{[A-Z_]+\}( AS [a-z]+)?", line) for line in froms)
    assert {stage.base for stage in stages} == set(rootfs.BASES), "each has what stands for it where no registry is"
    assert all("latest" not in stage.base and "-" in stage.base for stage in stages)


def test_what_the_process_is(final: Stage) -> None:
    config = config_of(final, {})

    assert config.user == "65532:65532"
    assert config.entrypoint[:2] == ["/usr/bin/tini", "--"], "tini is process 1"
    assert (config.entrypoint[2:], config.command) == (["gitfleet"], ["--help"])
    assert config.environment["PATH"].startswith("/opt/gitfleet/bin:")
    assert config.environment["GITFLEET_CACHE_DIR"].startswith(config.environment["HOME"])
    assert config.labels["org.opencontainers.image.version"] == __version__
    assert {"title", "description", "licenses", "revision"} <= {name.rpartition(".")[2] for name in config.labels}


def test_nothing_is_changed_once_the_user_is_set(final: Stage) -> None:
    kinds = [step.instruction for step in final.steps]

    assert kinds.count("USER") == 1
    assert not {"RUN", "COPY"} & set(kinds[kinds.index("USER") :]), "whatever the user owns, the image does not run"


def test_the_last_stage_has_programs_and_no_compiler(final: Stage) -> None:
    (installed,) = final.values("RUN")

    assert {"ca-certificates", "git", "gpg", "openssh-client", "tini"} <= set(installed.split())
    assert not COMPILERS.search(installed) and "pip" not in installed
    assert "--no-install-recommends" in installed and "rm -rf /var/lib/apt/lists/*" in installed
    assert [sources_of(value)[0] for value in final.values("COPY")] == ["build", "tools"], "nothing of the repo itself"


def test_packages_come_from_the_locks_alone(stages: list[Stage]) -> None:
    installs = [
        part for stage in stages for run in stage.values("RUN") for part in run.split("&&") if " install" in part
    ]
    of_pip = [part for part in installs if "pip" in part]

    for part in of_pip:
        locks = re.findall(r"-r (\S+)", part)
        if locks:
            assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(part.split()), part
            assert all((ROOT / lock).is_file() for lock in locks)
        else:
            assert {"--no-deps", "--no-index"} <= set(part.split()), part
    assert len(of_pip) == 3
    assert not [
        part for stage in stages for part in stage.values("RUN") if re.search(r"curl|wget|git clone|go install", part)
    ]


def test_locks_are_copied_before_the_code_so_that_a_change_of_code_installs_nothing_again(stages: list[Stage]) -> None:
    order = [step.value for step in stages[0].steps if step.instruction in ("COPY", "RUN")]

    assert order.index("locks ./locks") == 0
    assert "locks/runtime.txt" in order[1] and order.index("gitfleet ./gitfleet") > 1


def test_what_is_copied_is_there_and_gets_past_dockerignore(stages: list[Stage]) -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        source
        for stage in stages
        for name, sources, _ in map(sources_of, stage.values("COPY"))
        if name is None
        for source in sources
    }

    assert lines[1] == "*", "what is not named stays out: .git, environments, keys that lie about"
    assert copied == let_through
    assert not [source for source in copied if not tracked(source)]


def test_an_instruction_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text('ARG A=debian:12\nFROM ${A} AS one\nENV B=1 C="a b"\nRUN true \\\n  && false\n')

    (stage,) = stages_of(path)
    assert stage == Stage("debian:12", "one", (Step("ENV", 'B=1 C="a b"', 3), Step("RUN", "true   && false", 4)))
    assert config_of(stage, {"P": "x"}).environment == {"P": "x", "B": "1", "C": "a b"}
    path.write_text("FROM a\nADD https://example.com/x /x\n")
    with pytest.raises(ValueError, match="line 2: ADD"):
        stages_of(path)


def test_texts_of_instructions() -> None:
    assert filled_in("${A}:$B${C}", {"A": "1", "B": "2"}) == "1:2"
    assert pairs('a="${V}" b=c', {"V": "x y"}) == {"a": "x y", "b": "c"}
    assert sources_of("--from=build /a /b/ /c") == ("build", ["/a", "/b/"], "/c")
    with pytest.raises(ValueError, match="not known"):
        sources_of("--chown=1 a b")
