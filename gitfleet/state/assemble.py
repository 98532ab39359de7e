"""Parsed files of the state branch put together: one fleet state, and as its damage what does not fit into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitfleet.errors import BadInput
from gitfleet.model.state import Damage, FleetState
from gitfleet.state import paths
from gitfleet.state.file_kinds import ParsedStateFile, Parts
from gitfleet.state.hold_files import lost_holds
from gitfleet.state.placement_records import gather_orphans
from gitfleet.state.read import HINT, parse_state_file, wanted_files
from gitfleet.state.shapes.ledgers import FaultsFile, FleetHead
from gitfleet.state.table import state_fields
from gitfleet.state.texts import StateText


@dataclass(frozen=True, slots=True)
class StateFile:
    """One file of the state branch: its blob id, and its content where it is needed (see `wanted_files`)."""

    blob: str
    content: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """The files of a commit that could not be read, each with the reason, and the commits whose version of some of them
    was read instead."""

    commit: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    restored: Mapping[str, str] = field(default_factory=dict)


def assemble_state(
    listing: Mapping[str, str], parsed: Mapping[str, ParsedStateFile], unusable: Unusable | None = None
) -> FleetState:
    """The state of a tree: `listing` is all of its paths with their blob ids, `parsed` what its state files say, by
    path.

    Manifests of snapshots are not loaded. Files that are not gitfleet's are left alone. Never raises: where files
    contradict each other, as they can only after an edit by hand (a part without its placement, an entry given twice),
    the state's damage says so, as it does of what is `unusable`. Entries may be spread over a folder's files in any
    way; where it is not the way of this version, the folder is noted as misplaced.
    """
    unusable = unusable or Unusable()
    parts = Parts(listing)
    for path in sorted(parsed):
        parts.files.setdefault(type(parsed[path]), []).append((path, parsed[path]))
    head = next((file for _, file in parts.of(FleetHead)), FleetHead())
    faults = next((file for _, file in parts.of(FaultsFile)), FaultsFile())
    fields = {name: stored.gather(parts) for name, stored in state_fields()}
    orphans = gather_orphans(parts)
    for path, why in lost_holds(fields["holds"], head.holds).items():
        parts.twice.setdefault(path, why)
    return FleetState(
        observed_commit=head.observed_commit,
        scheduler_plugins=head.scheduler_plugins,
        mass_delete=head.mass_delete,
        freezes=head.freezes,
        faults=faults.faults,
        last_good=faults.last_good,
        misplaced=frozenset(parts.misplaced),
        damage=Damage(
            commit=unusable.commit,
            files={**unusable.files, **parts.twice},
            # What an earlier version says is not what holds where it does not fit to the rest either.
            restored={path: commit for path, commit in unusable.restored.items() if path not in parts.twice},
            orphans=orphans,
        ),
        **fields,
    )


def read_state(files: Mapping[str, StateFile]) -> FleetState:
    """A whole tree at once: parse what has to be parsed, then assemble. BadInput where anything cannot be used."""
    parsed: dict[str, ParsedStateFile] = {}
    for path in wanted_files(files):
        content = files[path].content
        if content is None:
            raise ValueError(StateText.GIVEN_WITHOUT_CONTENT(path=path))
        parsed[path] = parse_state_file(path, content)
    return refuse_damage(assemble_state({path: file.blob for path, file in files.items()}, parsed))


def lost_faults(parsed: Mapping[str, ParsedStateFile]) -> bool:
    """Whether faults.yaml has not as many entries as the fleet's head says."""
    head, faults = parsed.get(paths.FLEET), parsed.get(paths.FAULTS)
    found = len(faults.faults) + len(faults.last_good) if isinstance(faults, FaultsFile) else 0
    return isinstance(head, FleetHead) and head.faults > found


def refuse_damage(state: FleetState) -> FleetState:
    """The very state; BadInput for one that holds only a part of what was there, naming what cannot be used."""
    for path, reason in state.damage.files.items():
        raise BadInput(StateText.STATE_BRANCH_FILE_CANNOT_USED(path=path, reason=reason), hint=HINT)
    for key in state.damage.orphans:
        message = StateText.STATE_BRANCH_SNAPSHOTS_BINDINGS(key=key, placement_path=paths.placement_path(key))
        raise BadInput(message, hint=HINT)
    return state
