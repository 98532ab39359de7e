"""What every command says while a removal is held: who waits for which file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Shell, commit, git

AFFINITY = """\
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - labelSelector:
                matchLabels: {region: nowhere}
"""


def held_name(gitfleet: Shell, repo: Path) -> str:
    """The one hold that there is."""
    return gitfleet("get", "holds", "-C", repo, "-o", "name").out.strip().removeprefix("hold/")


def test_every_command_points_to_the_hold(gitfleet: Shell, moving: Path) -> None:
    placement = (moving / "placements" / "monitoring.yaml").read_text()
    broken = placement.replace("placementType: PickAll\n", f"placementType: PickAll\n{AFFINITY}")
    commit(moving, {"placements/monitoring.yaml": broken})
    planned = gitfleet("plan", moving)
    ran = gitfleet("run", "--until-settled", moving)
    name = held_name(gitfleet, moving)
    sentence = f"removals wait for an approval of {name}; all other changes go out"

    first, second = planned.out.splitlines()[:2]
    assert first == f"held: approvals/{name}.yaml approves:"
    assert second.startswith("  placement monitoring on cluster eu-north-1, placement monitoring on cluster eu-west-1,")
    assert second.endswith(" and 1 more: 16 placed objects on eu-north-1, eu-west-1, us-east-1 and 1 more")
    assert "\nmonitoring (PickAll): 0 clusters picked, 4 kept by a hold, 4 objects, snapshot 0\n" in planned.out
    assert f"held: approvals/{name}.yaml approves: placement monitoring on cluster eu-north-1, " in ran.err
    assert "found 0 cluster(s); 4 more kept by a hold" in ran.out
    (row,) = {tuple(row.values()) for row in kept_rows(gitfleet, moving)}
    assert row == (False, "Bound", True)

    told = gitfleet("explain", "monitoring", "-C", moving)
    assert told.out.splitlines()[0] == f"monitoring: {sentence} (`gitfleet get holds`)"
    one = gitfleet("explain", "monitoring", "eu-north-1", "-C", moving, "--rev", "main")
    assert one.out.splitlines()[0] == told.out.splitlines()[0]
    document = json.loads(gitfleet("explain", "monitoring", "-C", moving, "-o", "json").out)
    assert document["removalsHeld"] == told.out.splitlines()[0]
    assert not json.loads(gitfleet("explain", "web", "-C", moving, "-o", "json").out)["removalsHeld"]

    said = "removals of monitoring are held: `gitfleet get holds`\n"
    assert gitfleet("get", "crp", "-C", moving).err == gitfleet("get", "crp", "monitoring", "-C", moving).err == said
    assert gitfleet("get", "crp", "web", "-C", moving).err == gitfleet("get", "mc", "-C", moving).err == ""
    conditions = gitfleet("describe", "crp", "monitoring", "-C", moving).out.partition("Conditions:\n")[2]
    assert sentence in "\n".join(conditions.splitlines()[:6])
    page = git(moving, "show", "gitfleet/state:README.md")
    (line,) = [line for line in page.splitlines() if line.startswith("| [`monitoring`]")]
    assert line.endswith(f"| `{sentence}` |")
    assert "## Placements: 1 complete, 1 not" in page


def kept_rows(gitfleet: Shell, repo: Path) -> list[dict[str, object]]:
    """What the plan says of the clusters of the placement."""
    placements = json.loads(gitfleet("plan", repo, "-o", "json").out)["placements"]
    (found,) = [placement for placement in placements if placement["name"] == "monitoring"]
    return [{name: row[name] for name in ("selected", "state", "keptByHold")} for row in found["clusters"]]
