"""Where a rendered object stands, and how it is written.

A path follows from the cluster, the placement and the object alone: another object of the work moves no file. The rank
of the kind comes first, so that the order of the names is the order of a snapshot (`kubectl apply -f FOLDER`).
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.kinds import BUILT_IN_KINDS, snapshot_rank
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_writer import write_documents

_LONGEST: Final = 200
"""Characters of a part; file systems take 255 bytes, and names of objects may have as many. Only what is shortened to a
hash has as many as this."""
_ENCODED: Final = re.compile(rb"[^A-Za-z0-9@+=,.-]|^\.")
_ENCODED_KIND: Final = re.compile(rb"[^A-Za-z0-9]|^[a-z]")


def folder_path(cluster: str, placement: PlacementKey) -> str:
    """The folder of a placement on a cluster: no other pair has it."""
    names = (placement.namespace, placement.name) if placement.namespace else (placement.name,)
    return f"{_part(_encoded(cluster))}/{_part(*map(_encoded, names))}"


def file_name(key: ObjectKey) -> str:
    """`<rank>-<kind>[.<group>]_[<namespace>_]<name>.yaml`: the name of an object's file, whatever its version. Kinds of
    Kubernetes are in lower case, and those alone begin so."""
    built_in = (key.group, key.kind) in BUILT_IN_KINDS
    kind = key.kind.lower() if built_in else _encoded(key.kind, _ENCODED_KIND)
    typed = f"{kind}.{_encoded(key.group)}" if key.group else kind
    names = (key.namespace, key.name) if key.namespace else (key.name,)
    return f"{snapshot_rank(key.kind):02d}-{_part(typed, *map(_encoded, names))}.yaml"


def file_path(cluster: str, placement: PlacementKey, key: ObjectKey) -> str:
    """Where an object of a placement on a cluster stands."""
    return f"{folder_path(cluster, placement)}/{file_name(key)}"


def file_content(manifest: Manifest) -> bytes:
    """The object as one document, its fields in order: the same object gives the same bytes. What SOPS encrypted keeps
    the order that people wrote, since its MAC is of the values in their order."""
    return write_documents([manifest.body], sort_keys=not is_sops_encrypted(manifest.body), blocks=True)


def _part(*encoded: str) -> str:
    text = "_".join(encoded)
    return text if len(text) < _LONGEST else f"{text[: _LONGEST - 65]}-{sha256(text.encode()).hexdigest()}"


def _encoded(text: str, pattern: re.Pattern[bytes] = _ENCODED) -> str:
    """A name as a part of a path: `_` divides names, a dot hides files, and all else could lead elsewhere."""
    raw = text.encode(errors="surrogatepass")
    return pattern.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii") or "%"
