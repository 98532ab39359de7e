"""The lines of a response that does not end, from bytes as they come: chunked or plain (RFC 9112 §7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gitfleet.adapters.kube.texts import KubeText

LONGEST_LINE: Final = 4 * 1024 * 1024
"""Most bytes of a line; one event of a watch is one line."""
_LONGEST_SIZE: Final = 64


class NotAResponse(ValueError):
    """The bytes are no lines in such chunks."""


@dataclass(slots=True)
class Lines:
    """Splits a body into lines. At most one line of it is kept."""

    chunked: bool
    over: bool = False
    """Whether the last chunk has come: nothing more is to be read."""
    _raw: bytearray = field(default_factory=bytearray)
    _line: bytearray = field(default_factory=bytearray)
    _left: int = 0
    """Bytes of the present chunk that have not come, its line end included."""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now, without their ends; NotAResponse for what is none, or is too long."""
        if self.chunked:
            self._raw += data
            while not self.over and self._next_chunk():
                pass
        else:
            self._line += data
        *whole, rest = self._line.split(b"\n")
        self._line = rest
        if len(rest) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in whole):
            raise NotAResponse(KubeText.LINE_LONGER_MIB(longest_line=LONGEST_LINE >> 20))
        return [bytes(line) for line in whole if line]

    def _next_chunk(self) -> bool:
        """Take what has come of a chunk; whether there may be more."""
        raw = self._raw
        if self._left:
            part = raw[: self._left]
            content = max(0, self._left - 2)  # the two last bytes are its line end
            self._line += part[:content]
            self._left -= len(part)
            del raw[: len(part)]
            return bool(raw)
        end = raw.find(b"\r\n")
        if end < 0:
            if len(raw) > _LONGEST_SIZE:
                raise NotAResponse(KubeText.SIZE_CHUNK_MISSING())
            return False
        size = bytes(raw[:end]).partition(b";")[0].strip()
        del raw[: end + 2]
        if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
            raise NotAResponse(KubeText.SIZE_CHUNK_NO_NUMBER())
        self._left = int(size, 16) + 2
        self.over = self._left == 2
        return bool(raw)
