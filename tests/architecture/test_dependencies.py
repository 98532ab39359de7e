"""What is imported is declared, what is declared has an upper bound, and the locks of the image are true to both."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from gitfleet import DISTRIBUTION
from tests.architecture.sources import ROOT

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = PYPROJECT["project"]
EXTRAS: Mapping[str, list[str]] = PROJECT["optional-dependencies"]
UNBOUNDED = {"tzdata"}
"""Data, of which the newest is wanted."""
RUNTIME, BUILD = (ROOT / "locks" / f"{name}.txt" for name in ("runtime", "build"))
_IMAGE = {"python_version": "3.11", "platform_machine": "x86_64", "sys_platform": "linux"}
_PIN = re.compile(r"^(?P<pin>[A-Za-z0-9][^\s\\]*(?: ; [^\\]+)?) \\$")


@dataclass(frozen=True)
class Locked:
    """One line of a lock: the version, and how many hashes of files it names."""

    version: Version
    hashes: int


def locked(text: str) -> dict[str, Locked]:
    """The packages of a lock by name; AssertionError for a line that is none of a lock."""
    found: dict[str, Locked] = {}
    last = ""
    for line in text.splitlines():
        if match := _PIN.match(line):
            requirement = Requirement(match["pin"])
            (pin,) = requirement.specifier
            assert pin.operator == "==", line
            last = canonicalize_name(requirement.name)
            found[last] = Locked(Version(pin.version), 0)
        elif re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?", line):
            found[last] = Locked(found[last].version, found[last].hashes + 1)
        else:
            assert re.match(r"\s*#", line) or not line, f"no line of a lock: {line}"
    return found


def unmet(requirements: Iterable[str], lock: Mapping[str, Locked]) -> list[str]:
    """The requirements that a lock has no version for."""
    wanted = [Requirement(text) for text in requirements]
    return [
        str(one)
        for one in wanted
        if (one.marker is None or one.marker.evaluate({**_IMAGE, "extra": ""}))
        and (
            (found := lock.get(canonicalize_name(one.name))) is None
            or not one.specifier.contains(found.version, prereleases=True)
        )
    ]


def image_extras() -> list[str]:
    """The extras that the image has, as the Makefile names them for the lock."""
    match = re.search(r"^IMAGE_EXTRAS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert match
    return match[1].split()


def declared() -> list[str]:
    """Every requirement of every kind but that of the distribution on itself."""
    groups = [PROJECT["dependencies"], PYPROJECT["build-system"]["requires"], *EXTRAS.values()]
    return [text for group in groups for text in group if canonicalize_name(Requirement(text).name) != DISTRIBUTION]


def test_the_image_has_every_extra_of_the_command() -> None:
    """Dask is for who spreads the calls to clusters, with an image of their own (docs/scaling.md)."""
    assert set(image_extras()) == set(EXTRAS) - {"dask", "dev", "release"}


def test_every_imported_package_is_declared_and_every_declared_one_is_used() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deptry", "gitfleet"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_requirement_has_a_lower_and_an_upper_bound() -> None:
    operators = {text: {one.operator for one in Requirement(text).specifier} for text in declared()}

    assert {text for text, found in operators.items() if ">=" not in found} == set()
    assert {Requirement(text).name for text, found in operators.items() if "<" not in found} == UNBOUNDED


def test_what_is_installed_here_is_within_the_bounds() -> None:
    lock: dict[str, Locked] = {}
    for text in declared():
        try:
            name = Requirement(text).name
            lock[canonicalize_name(name)] = Locked(Version(distribution(name).version), 1)
        except PackageNotFoundError:  # the packages of a release
            continue
    assert [text for text in unmet(declared(), lock) if canonicalize_name(Requirement(text).name) in lock] == []


@pytest.mark.parametrize("path", [RUNTIME, BUILD], ids=lambda path: str(path.name))
def test_a_lock_has_hashes_and_names_no_address(path: Any) -> None:
    text = path.read_text()
    lock = locked(text)

    assert lock and {name for name, one in lock.items() if not one.hashes} == set()
    assert "://" not in text and "--index" not in text and "--find" not in text, "where from is the installer's choice"
    assert "make lock" in text.splitlines()[1]


def test_the_locks_have_what_is_declared() -> None:
    assert (
        unmet([*PROJECT["dependencies"], *(t for e in image_extras() for t in EXTRAS[e])], locked(RUNTIME.read_text()))
        == []
    )
    assert unmet(PYPROJECT["build-system"]["requires"], locked(BUILD.read_text())) == []


@pytest.mark.parametrize("path", [RUNTIME, BUILD], ids=lambda path: str(path.name))
def test_a_lock_has_what_its_packages_require(path: Any) -> None:
    """As far as the same versions are installed here: the image's installer follows no dependency."""
    lock = locked(path.read_text())
    same = []
    for name, one in lock.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if Version(found.version) == one.version:
            same += found.requires or []
    assert unmet(same, lock) == []


def test_a_lock_that_is_stale_is_found() -> None:
    lock = locked("alpha==1.2 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via us\n")

    assert lock == {"alpha": Locked(Version("1.2"), 1)}
    assert unmet(["alpha>=1,<2"], lock) == []
    assert unmet(["alpha>=2", "beta", "gamma; sys_platform == 'win32'"], lock) == ["alpha>=2", "beta"]
    with pytest.raises(AssertionError, match="no line of a lock"):
        locked("-e .\n")
