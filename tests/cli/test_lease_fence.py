"""A process that does not lead pushes no branch and writes to no cluster, whichever way leads there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.errors import Stopped
from gitfleet.fleet.clusters import ByConnection
from gitfleet.settings import Settings
from gitfleet.wiring.hub import open_workspace
from gitfleet.wiring.serving import _fence
from tests.e2e.repos import ConfigRepo


def test_every_writer_of_a_process_that_does_not_lead_is_fenced(tmp_path: Path) -> None:
    hub = ConfigRepo.bare(tmp_path / "repo").hub
    with open_workspace(Settings(repo=str(hub), cache_dir=tmp_path / "cache")) as workspace:
        _fence(workspace, cast(Any, SimpleNamespace(leads=lambda: False)))
        driver, directory = workspace.driver, workspace.driver.clusters.fanout.directory
        fenced = [branch for branch, _, _ in driver.pushers()]
        assert len(fenced) == 4
        for branch in fenced:
            with pytest.raises(Stopped):
                branch.writer.remove_branch("x", "0" * 40)
        assert isinstance(directory, ByConnection)
        assert isinstance(directory.real, KubeDirectory)
        assert not directory.real.may_write()
