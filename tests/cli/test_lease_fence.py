"""A process that does not lead pushes no branch and writes to no cluster, whichever way leads there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.errors import Stopped
from gitfleet.loop.directories import ByConnection
from gitfleet.settings import Settings
from gitfleet.wiring import open_workspace
from gitfleet.wiring_lease import _fence
from tests.e2e.repos import ConfigRepo


def test_every_writer_of_a_process_that_does_not_lead_is_fenced(tmp_path: Path) -> None:
    hub = ConfigRepo.bare(tmp_path / "repo").hub
    with open_workspace(Settings(repo=str(hub), cache_dir=tmp_path / "cache")) as workspace:
        _fence(workspace, cast(Any, SimpleNamespace(leads=lambda: False)))
        driver, directory = workspace.driver, workspace.driver.fanout.directory
        branches = (driver.states, driver.requests, driver.rendered, driver.pull)
        for branch in branches:
            assert branch is not None
            with pytest.raises(Stopped):
                branch.writer.remove_branch("x", "0" * 40)
        assert isinstance(directory, ByConnection)
        assert isinstance(directory.real, KubeDirectory)
        assert not directory.real.may_write()
