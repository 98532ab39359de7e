"""What is to be done on a cluster, read from its branch."""

from __future__ import annotations

from gitfleet.api import InvalidContent, read_state
from gitfleet.api.deliveries import ClusterDelivery
from gitfleet.formats.yaml_reader import Profile, UnreadableText, read_documents
from gitfleet.pull.texts import PullText


def read_delivery(content: bytes) -> ClusterDelivery:
    """The delivery in a file; InvalidContent where it is none."""
    try:
        documents = read_documents(content, Profile.STATE)
    except UnreadableText as error:
        raise InvalidContent(str(error)) from None
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise InvalidContent(PullText.HOLDS_NO_SINGLE_DOCUMENT())
    return read_state(ClusterDelivery, documents[0])
