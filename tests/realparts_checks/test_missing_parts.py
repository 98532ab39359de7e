"""What happens where a real part is missing, or is built for the first time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.realparts import assets, fixtures
from tests.realparts.assets import MissingRealPart

SKIPPING = "import pytest\n\n\n@pytest.mark.skipif(True, reason='{reason}')\ndef test_part(): pass\n"


@pytest.mark.parametrize(
    ("reason", "required", "code"),
    [("no kubectl", "1", 1), ("no kubectl", "", 0), ("this git has no reftable", "1", 0)],
)
def test_a_skipped_test_has_failed_where_real_parts_are_required(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reason: str, required: str, code: int
) -> None:
    monkeypatch.setenv(fixtures.REQUIRE, required)
    (tmp_path / "test_it.py").write_text(SKIPPING.format(reason=reason))
    command = ["-m", "pytest", "-q", "-p", "tests.realparts.fixtures", "-p", "no:cacheprovider", "--rootdir"]
    done = subprocess.run([sys.executable, *command, str(tmp_path), str(tmp_path)], check=False, capture_output=True)
    assert done.returncode == code, done.stdout.decode()


class TestMissingParts:
    def test_an_incomplete_folder_of_assets_is_refused(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "etcd").touch()
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

        with pytest.raises(MissingRealPart, match="no kube-apiserver"):
            assets.ensure_assets()

    def test_without_go_the_message_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(MissingRealPart, match="install Go"):
            assets.ensure_assets()

    def test_without_apt_the_message_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(MissingRealPart, match="no apt to get it by: install prometheus"):
            assets.ensure_debian_program("prometheus")

    def test_without_lists_of_packages_apt_gets_them_and_leaves_only_the_program(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        apt = tmp_path / "apt-get"
        apt.write_text(
            f"#!{sys.executable}\n"
            "import pathlib, sys\n"
            f"open({str(tmp_path / 'asked')!r}, 'a').write(sys.argv[-1] + ' ')\n"
            "own = 'State::Lists' in ' '.join(sys.argv)\n"
            "if sys.argv[-1] == 'gauge' and own:\n"
            "    pathlib.Path('gauge_1_all.deb').write_text('package')\n"
            "sys.exit(0 if own else 100)\n"
        )
        unpack = tmp_path / "dpkg-deb"
        unpack.write_text(
            f"#!{sys.executable}\n"
            "import pathlib, sys\n"
            "assert pathlib.Path(sys.argv[2]).read_text() == 'package'\n"
            "program = pathlib.Path(sys.argv[3]) / 'usr' / 'bin' / 'gauge'\n"
            "program.parent.mkdir(parents=True)\n"
            "program.write_text('binary')\n"
        )
        for program in (apt, unpack):
            program.chmod(0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", str(tmp_path))

        found = {assets.ensure_debian_program("gauge") for _ in range(2)}

        assert {path.read_text() for path in found} == {"binary"}
        assert (tmp_path / "asked").read_text() == "gauge update gauge "
        assert [path.name for path in (tmp_path / "cache" / "gitfleet" / "gauge" / "unpacked").iterdir()] == ["usr"]

    def test_two_that_need_a_build_at_once_make_one(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        go = tmp_path / "go"
        go.write_text(
            f"#!{sys.executable}\n"
            "import pathlib, sys, time\n"
            "time.sleep(0.3)\n"
            "pathlib.Path(sys.argv[sys.argv.index('-o') + 1]).write_text('binary')\n"
            f"open({str(tmp_path / 'builds')!r}, 'a').write('built ')\n"
        )
        go.chmod(0o755)
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with ThreadPoolExecutor() as pool:
            first, second = pool.map(lambda _: assets.ensure_assets(), range(2))

        assert (tmp_path / "builds").read_text() == "built "
        assert first == second
        assert (first / "kube-apiserver").read_text() == "binary"
        assert {path.name for path in first.parent.iterdir()} == {"lock", first.name}

    def test_a_failed_build_says_why_and_leaves_nothing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        go = tmp_path / "go"
        go.write_text(f"#!{sys.executable}\nraise SystemExit('no such module')\n")
        go.chmod(0o755)
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(MissingRealPart, match="no such module"):
            assets.ensure_assets()
        assert [path.name for path in (tmp_path / "cache").glob("*/*/*")] == ["lock"]

    @pytest.mark.parametrize(("required", "outcome"), [("1", pytest.fail.Exception), ("", pytest.skip.Exception)])
    def test_a_missing_part_fails_only_where_it_is_required(
        self, monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
    ) -> None:
        monkeypatch.setenv(fixtures.REQUIRE, required)

        with pytest.raises(outcome, match="do this"):
            fixtures.give_up(MissingRealPart("do this"))
