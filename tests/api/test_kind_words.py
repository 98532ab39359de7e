"""The words by which people name kinds."""

from __future__ import annotations

from gitfleet.api.kinds import KINDS

SHORT = """crp rp mc cro ro csus sus csur sur careq areq crpe crpdb crb rb crs rs csps sps scenario config"""


def test_every_word_names_one_kind_and_every_short_name_is_a_word() -> None:
    words = [word.lower() for kind in KINDS.values() for word in kind.words]
    assert len(set(words)) == len(words)
    assert set(SHORT.split()) <= set(words)
