"""The exact manifests of one placement on one cluster (KubeFleet pkg/controllers/workgenerator)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.envelopes import EnvelopeError, EnvelopeTexts, is_envelope, unwrap
from gitfleet.api.objects import Manifest
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.works import Work
from gitfleet.works.compiled import CompiledOverrides, OverrideFailed, OverridesOfCluster


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
    references = (*binding.cluster_resource_overrides, *binding.resource_overrides)
    work = empty_work(binding, snapshot)
    if snapshot.manifests is None:
        return replace(work, error=f"resource snapshot {snapshot.name} was not loaded")
    enveloped = any(is_envelope(manifest) for manifest in snapshot.manifests)
    if not references and not enveloped:
        return replace(work, manifests=snapshot.manifests)
    try:
        concerned = OverridesOfCluster(map(overrides.get, references), cluster)
        manifests = tuple(_rendered(snapshot.manifests, concerned, {} if texts is None else texts))
        if enveloped:
            _refuse_twins(manifests)
    except OverrideFailed as error:
        return replace(work, error=f"{error} (cluster {cluster.name})")
    except EnvelopeError as error:
        return replace(work, error=f"{error} (cluster {cluster.name})", unwrapped=False)
    return replace(work, manifests=manifests)


def empty_work(binding: Binding, snapshot: ResourceSnapshot) -> Work:
    """The binding's work before anything was rendered into it."""
    return Work(
        placement=binding.placement,
        cluster=binding.cluster,
        generation=binding.generation,
        snapshot=snapshot.name,
        manifests=(),
        apply_strategy=binding.apply_strategy,
        overridden=bool(binding.cluster_resource_overrides or binding.resource_overrides),
    )


def _rendered(manifests: Sequence[Manifest], overrides: OverridesOfCluster, texts: EnvelopeTexts) -> Iterator[Manifest]:
    for manifest in manifests:
        changed = _overridden(manifest, overrides)
        if changed is None:
            continue
        if not is_envelope(changed):
            yield changed
            continue
        for inner in unwrap(changed, texts):
            placed = _overridden(inner, overrides)
            if placed is not None:
                yield placed


def _overridden(manifest: Manifest, overrides: OverridesOfCluster) -> Manifest | None:
    body = overrides.apply(manifest.key, manifest.body)
    if body is None or body is manifest.body:
        return None if body is None else manifest
    return replace(manifest, body=body, digest=digest_of(body))


def _refuse_twins(manifests: Sequence[Manifest]) -> None:
    """An object that stands in an envelope and beside it (or in two) has no single content."""
    seen: set[tuple[str, str, str, str]] = set()
    for manifest in manifests:
        if manifest.key.identity in seen:
            raise EnvelopeError(f"{manifest.key} is placed twice: search for it in the envelopes and beside them")
        seen.add(manifest.key.identity)
