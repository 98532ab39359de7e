"""What stands for encrypted values where nothing is decrypted: simulated clusters get other values than real ones."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping

from gitfleet.formats.sops import ENCRYPTED_TEXT


class StandInValues:
    """Decryptor without a key."""

    def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
        """Decryptor.values: for each encrypted text one of its own, which may stand in `data` as in `stringData`."""
        texts = content.decode(errors="replace")
        values = {match[0]: b64encode(match[0].encode()).decode() for match in ENCRYPTED_TEXT.finditer(texts)}
        return defaultdict(lambda: values)
