"""Files as SOPS writes them, and age keys, for tests; `tests/adapters/test_sops.py` has the real sops read them."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests import builders

MODIFIED: Final = "2026-11-23T15:38:49Z"
VALUES: Final = ("data", "stringData")


class AgeKey:
    """A new age key; `line` is what stands in a key file."""

    def __init__(self) -> None:
        import pyrage  # where it is not installed yet, only the tests that encrypt something fail

        identity = pyrage.x25519.Identity.generate()
        self.line = str(identity)
        self.recipient = str(identity.to_public())

    def file(self, folder: Path) -> Path:
        """A key file with this key."""
        path = folder / "keys.txt"
        path.write_text(f"# a key\n{self.line}\n")
        return path


def encrypted(*bodies: Mapping[str, Any], to: AgeKey, fields: tuple[str, ...] = VALUES, **metadata: Any) -> str:
    """The objects as one YAML file in which these fields are encrypted; `metadata` are further fields of `sops`."""
    import pyrage

    key = os.urandom(32)
    counted = "".join(text for body in bodies for text in _texts(body))
    recipient = pyrage.x25519.Recipient.from_str(to.recipient)
    sops = {
        "age": [{"enc": pyrage.encrypt(key, [recipient], armored=True).decode(), "recipient": to.recipient}],
        "lastmodified": MODIFIED,
        "mac": _encrypted(hashlib.sha512(counted.encode()).hexdigest().upper(), key, MODIFIED),
        "version": "3.13.3",
        **metadata,
    }
    written = [{**_below(body, (), key, fields), "sops": sops} for body in bodies]
    return builders.to_yaml(*written)


def _below(value: Any, path: tuple[str, ...], key: bytes, fields: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return {name: _below(part, (*path, name), key, fields) for name, part in value.items()}
    if isinstance(value, list):
        return [_below(part, path, key, fields) for part in value]
    is_plain = value is None or value == "" or not set(path) & set(fields)
    return value if is_plain else _encrypted(_text(value), key, ":".join(path) + ":", _sort(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif value is not None:
        yield _text(value)


def _text(value: Any) -> str:
    return str(value)


def _sort(value: Any) -> str:
    return {bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def _encrypted(text: str, key: bytes, bound_to: str, sort: str = "str") -> str:
    nonce = os.urandom(32)
    out = AESGCM(key).encrypt(nonce, text.encode(), bound_to.encode())
    data, iv, tag = (base64.b64encode(part).decode() for part in (out[:-16], nonce, out[-16:]))
    return f"ENC[AES256_GCM,data:{data},iv:{iv},tag:{tag},type:{sort}]"
