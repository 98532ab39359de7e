"""Files that SOPS encrypted for age keys, decrypted in this process (getsops/sops v3: sops.go, aes/cipher.go,
stores/stores.go).

The data key of a file is encrypted for each recipient by age. Each value is encrypted with it by AES-256-GCM, bound to
the fields' names above it. The MAC is a SHA-512 of all values in the file's order, encrypted likewise and bound to
`lastmodified`. It has neither the names of fields nor where a value ends, so it notices a change of the values, not
every change of the fields that stand in plain text. Neither another program nor a network is asked. The libraries are
the extra `sops`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from gitfleet import extra
from gitfleet.adapters.texts import AdaptersText
from gitfleet.api import dotted
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats.json_values import JsonValue, mappings
from gitfleet.formats.sops import ENCRYPTED_TEXT, METADATA, is_sops_encrypted
from gitfleet.formats.yaml_reader import parse_documents

_KEY_LINE: Final = "AGE-SECRET-KEY-1"
_MOST_KEYS: Final = 1000
_LARGEST_KEY_FILE: Final = 1 << 20
_DATA_KEY_BYTES: Final = 32
_MOST_RECIPIENTS: Final = 100
_MISSING: Final = AdaptersText.SOPS_EXTRA(extra=extra("sops"))
_CHANGED: Final = AdaptersText.ANOTHER_MAC()
_Texts = dict[str, str]


class AgeDecryptor:
    """Decryptor with the age keys of a file, which is read at each use; without a file nothing can be decrypted."""

    def __init__(self, key_file: Path | None) -> None:
        self._key_file = key_file

    def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
        """Decryptor.values."""
        documents = _documents(content)
        metadata = next(iter(documents.values()))[METADATA]
        opened = _opener(self._data_key(metadata))
        decrypted: dict[int, _Texts] = {index: {} for index in documents}
        written = "".join(text for at, body in documents.items() for text in _texts(body, (), opened, decrypted[at]))
        mac, _ = opened(str(metadata["mac"]), str(metadata.get("lastmodified")), f"{METADATA}.mac")
        counted = hashlib.sha512(written.encode("utf-8", "surrogatepass")).hexdigest().upper()
        if not hmac.compare_digest(mac.encode(), counted.encode()):
            raise BadInput(_CHANGED)
        return decrypted

    def _data_key(self, metadata: Mapping[str, Any]) -> bytes:
        try:
            import pyrage
        except ImportError as error:
            raise MissingPart(_MISSING) from error
        keys = self._keys(pyrage)
        rows = mappings(metadata.get("age"))[:_MOST_RECIPIENTS]
        for row in rows:
            try:
                key = bytes(pyrage.decrypt(str(row.get("enc")).encode(), keys))
            except pyrage.DecryptError:
                continue
            if len(key) == _DATA_KEY_BYTES:
                return key
        recipients = ", ".join(str(row.get("recipient")) for row in rows[:3]) or "nobody"
        raise BadInput(AdaptersText.ENCRYPTED_FOR_OTHERS(recipients=recipients, file=self._key_file))

    def _keys(self, pyrage: Any) -> list[Any]:
        if self._key_file is None:
            raise MissingPart(AdaptersText.NO_KEY_GIVEN())
        try:
            with self._key_file.open("rb") as file:
                lines = file.read(_LARGEST_KEY_FILE).decode(errors="replace").splitlines()[:_MOST_KEYS]
        except OSError as error:
            raise MissingPart(AdaptersText.KEY_FILE_CANNOT_READ(file=self._key_file, why=error.strerror)) from error
        keys = []
        for number, line in enumerate(map(str.strip, lines), 1):
            if not line or line.startswith("#"):
                continue
            try:
                keys.append(pyrage.x25519.Identity.from_str(line))
            except pyrage.IdentityError:
                why = AdaptersText.LINE_NO_AGE_KEY(number=number, file=self._key_file, begins=_KEY_LINE)
                raise MissingPart(why) from None
        if not keys:
            raise MissingPart(AdaptersText.KEY_FILE_NO_AGE_KEY(file=self._key_file, begins=_KEY_LINE))
        return keys


def _documents(content: bytes) -> dict[int, dict[str, Any]]:
    """The documents of a file that SOPS encrypted as a whole, by their index."""
    parsed = parse_documents(content, max_bytes=len(content))
    if parsed.faults:
        raise BadInput(AdaptersText.SOPS_FILE_CANNOT_READ(line=parsed.faults[0][0], why=parsed.faults[0][1]))
    bodies = {document.index: document.value for document in parsed.documents if isinstance(document.value, dict)}
    metadata = [body.get(METADATA) for body in bodies.values() if is_sops_encrypted(body)]
    if len(metadata) < max(len(parsed.documents), 1) or any(entry != metadata[0] for entry in metadata):
        raise BadInput(AdaptersText.NO_WHOLE_SOPS_FILE())
    return bodies


_Opener = Callable[[str, str, str], tuple[str, str]]
"""(encrypted text, what it is bound to, the field it stands in) -> the text and its type."""


def _opener(key: bytes) -> _Opener:
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise MissingPart(_MISSING) from error
    cipher = AESGCM(key)

    def opened(text: str, bound_to: str, where: str) -> tuple[str, str]:
        parts = ENCRYPTED_TEXT.fullmatch(text)
        try:
            if parts is None:
                raise ValueError("it has another form")
            data, nonce, tag = (base64.b64decode(part, validate=True) for part in parts.groups()[:3])
            return cipher.decrypt(nonce, data + tag, bound_to.encode()).decode(), parts[4]
        except (InvalidTag, binascii.Error, ValueError):
            raise BadInput(AdaptersText.VALUE_CANNOT_DECRYPTED(where=where)) from None

    return opened


def _texts(value: JsonValue, path: tuple[str, ...], opened: _Opener, decrypted: _Texts) -> Iterator[str]:
    """All that the MAC counts of a value, decrypted; the texts that stand encrypted are noted in `found`."""
    match value:
        case None:
            return
        case dict():
            for key, part in value.items():
                if path or key != METADATA:
                    yield from _texts(part, (*path, key), opened, decrypted)
        case list():
            for item in value:
                yield from _texts(item, path, opened, decrypted)
        case str() if ENCRYPTED_TEXT.fullmatch(value):
            yield from _decrypted(value, path, opened, decrypted)
        case bool() | str():
            yield str(value)
        case _:
            yield _as_go_writes(value)


def _decrypted(value: str, path: tuple[str, ...], opened: _Opener, decrypted: _Texts) -> Iterator[str]:
    text, sort = opened(value, ":".join(path) + ":", dotted(path))
    if sort == "str":
        decrypted[value] = text
    if sort != "comment":
        yield text


def _as_go_writes(number: float) -> str:
    """A number as strconv.FormatFloat(number, 'f', -1, 64) writes it."""
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
