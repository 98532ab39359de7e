"""The exact manifests of one placement on one cluster (KubeFleet pkg/controllers/workgenerator)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from gitfleet.api.bindings import Binding, ClusterContent
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeError, EnvelopeTexts, is_envelope, objects_in, unwrap
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import and_more
from gitfleet.model.works import Work
from gitfleet.works.compiled import CompiledOverrides, FailedPatch, OverrideFailed, OverridesOfCluster
from gitfleet.works.texts import WorksText

_MOST_NAMED: Final = 5
"""So many failing overrides are named."""


def render_work(
    binding: Binding,
    snapshot: ResourceSnapshot,
    overrides: CompiledOverrides,
    cluster: MemberCluster,
    texts: EnvelopeTexts | None = None,
) -> Work:
    """What `cluster` is to have of the snapshot, in the snapshot's order, by the overrides that the binding names.

    The snapshot must be loaded. Never raises for what people wrote: an override or an envelope that cannot be used
    becomes the work's `error`, and then nothing of the work is to be synced.
    Manifests that nothing patches are the snapshot's. `texts` are envelopes' texts that were parsed already.
    """
    references = ClusterContent.of(binding).overrides
    snapshot = snapshot.with_variants(binding.variants)
    if snapshot.manifests is None:
        return replace(empty_work(binding, snapshot), error=f"resource snapshot {snapshot.name} was not loaded")
    enveloped = any(is_envelope(manifest) for manifest in snapshot.manifests)
    if not references and not enveloped:
        return empty_work(binding, snapshot, snapshot.manifests)
    work = empty_work(binding, snapshot)
    try:
        concerned = OverridesOfCluster(map(overrides.get, references), cluster)
        judge = _Judge(overrides.policy, str(binding.placement), {} if texts is None else texts)
        manifests = tuple(_rendered(snapshot.manifests, concerned, judge))
        if judge.failed:
            named = "; ".join(map(str, judge.failed[:_MOST_NAMED]))
            raise OverrideFailed(named + and_more(len(judge.failed) - _MOST_NAMED))
        if enveloped:
            _refuse_twins(manifests)
    except OverrideFailed as error:
        return replace(work, error=str(error))
    except EnvelopeError as error:
        return replace(work, error=str(error), unwrapped=False)
    return replace(work, manifests=manifests, deleted=judge.deleted)


def failing_patches(
    binding: Binding, snapshot: ResourceSnapshot, overrides: CompiledOverrides, cluster: MemberCluster
) -> list[FailedPatch]:
    """The patches for which `render_work` fails: of each object the first."""
    references = ClusterContent.of(binding).overrides
    judge = _Judge(overrides.policy, str(binding.placement), {})
    if not references:
        return []
    with suppress(OverrideFailed, EnvelopeError):  # they lie in no patch
        concerned = OverridesOfCluster(map(overrides.get, references), cluster)
        tuple(_rendered(snapshot.with_variants(binding.variants).manifests or (), concerned, judge))
    return [error.patch for error in judge.failed if error.patch is not None]


def empty_work(binding: Binding, snapshot: ResourceSnapshot, manifests: tuple[Manifest, ...] = ()) -> Work:
    """The binding's work before anything was rendered into it, or with manifests that nothing patches."""
    return Work(
        placement=binding.placement,
        cluster=binding.cluster,
        generation=binding.generation,
        snapshot=snapshot.name,
        manifests=manifests,
        apply_strategy=binding.apply_strategy,
        overridden=bool(binding.cluster_resource_overrides or binding.resource_overrides),
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """What a placement's overrides may add to envelopes, and the texts of envelopes that were parsed already; `deleted`
    is filled with what overrides leave out, `failed` with why they fail."""

    policy: PlacingPolicy
    placement: str
    texts: EnvelopeTexts
    deleted: dict[Identity, OverrideKey] = field(default_factory=dict)
    failed: list[OverrideFailed] = field(default_factory=list)

    def overridden(self, manifest: Manifest, overrides: OverridesOfCluster) -> Manifest | None:
        """The object as the cluster gets it; None when an override fails, or deletes it with what it carries."""
        try:
            body = overrides.apply(manifest.key, manifest.body)
        except OverrideFailed as error:
            self.failed.append(error)
            return None
        if isinstance(body, OverrideKey):
            self.deleted.update(dict.fromkeys((manifest.key.identity, *self._identities(manifest)), body))
            return None
        return manifest if body is manifest.body else replace(manifest, body=body, digest=digest_of(body))

    def unwrap(self, envelope: Manifest, as_selected: Manifest) -> tuple[Manifest, ...]:
        """The objects inside; EnvelopeError when an override put something in that may not be placed. What lay in the
        object as it was selected was judged with it."""
        inner = unwrap(envelope, self.texts)
        if envelope is as_selected:
            return inner
        had = self._identities(as_selected)
        for key in (manifest.key for manifest in inner if manifest.key.identity not in had):
            if (note := self.policy.denial(key, self.placement)) is not None:
                raise EnvelopeError(
                    WorksText.OVERRIDE_ADDS(key=key, envelope=envelope.key, note=note[0][-1], note_2=note[1])
                )
        return inner

    def _identities(self, manifest: Manifest) -> frozenset[Identity]:
        try:
            inner = objects_in(manifest, self.texts) if is_envelope(manifest) else ()
            return frozenset(key.identity for _, key in inner)
        except EnvelopeError:
            return frozenset()


def _rendered(manifests: Sequence[Manifest], overrides: OverridesOfCluster, judge: _Judge) -> Iterator[Manifest]:
    for manifest in manifests:
        changed = judge.overridden(manifest, overrides)
        if changed is None:
            continue
        if not is_envelope(changed):
            yield changed
            continue
        for inner in judge.unwrap(changed, manifest):
            placed = judge.overridden(inner, overrides)
            if placed is not None:
                yield placed


def _refuse_twins(manifests: Sequence[Manifest]) -> None:
    """An object that stands in an envelope and beside it (or in two) has no single content."""
    seen: set[Identity] = set()
    for manifest in manifests:
        if manifest.key.identity in seen:
            raise EnvelopeError(WorksText.PLACED_TWICE_SEARCH_ENVELOPES_BESIDE(manifest=manifest.key))
        seen.add(manifest.key.identity)
