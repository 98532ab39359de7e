"""Quarantine (gitfleet.dev/v1alpha1): content of a placement that must not be rolled out (decision record 0015).

A run that rolled back makes one on the state branch, and people write them in the config repo; one of theirs with
`lifted: true` lets the content out again.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Annotated, Final

from gitfleet.api.annotations import At, Default, Only
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored
from gitfleet.api.placements import OwnerText, PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.api.values import ObjectName, Time, matching

_NAMED_BY: Final = 10
"""So many digits of the content's digest are in the name of a quarantine that gitfleet makes, and one more where the
placement has a namespace: `team/web` and `team.web` have no name in common."""


Digest = Annotated[str, matching("[0-9a-f]{64}", ApiText.MUST_HEXADECIMAL_DIGITS_SNAPSHOT_HASH())]
"""The hash of a resource snapshot."""


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "Quarantine"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine(Authored):
    """Content of a placement, by the hash of its resource snapshots, that no run and no rolling update rolls out unless
    it is `lifted`. `run` is the run that rolled back, "" for a person's; `since` is when gitfleet took it up.

    placement: the placement, as name or namespace/name
    digest: the hash of the resource snapshots that do not go out
    lifted: whether the content may go out again
    reason: why it is quarantined
    run: the run that rolled back; filled in by gitfleet
    since: since when it is quarantined; filled in by gitfleet
    """

    name: Annotated[ObjectName, At("metadata", "name")]
    placement: Annotated[OwnerText, Default(MISSING)] = PlacementKey("", "")
    digest: Annotated[Digest, Default(MISSING)] = ""
    lifted: bool = False
    reason: str = ""
    run: Annotated[str, Only.SERVER] = ""
    since: Annotated[Time | None, Only.SERVER] = None

    @property
    def content(self) -> tuple[PlacementKey, str]:
        """What it is about."""
        return self.placement, self.digest

    @property
    def sentence(self) -> str:
        """Why the content is quarantined and what lets it out, as the end of a sentence."""
        why = f" ({self.reason})" if self.reason else ""
        lift = ApiText.QUARANTINE_LIFTED_TRUE() if self.run else ApiText.TAKING_FILE_AWAY()
        return ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(name=self.name, why=why, lift=lift)


def quarantine_name(placement: PlacementKey, digest: str) -> str:
    """The name of the quarantine that gitfleet makes for content of a placement."""
    return f"{str(placement).replace('/', '.')}-{digest[: _NAMED_BY + bool(placement.namespace)]}"
