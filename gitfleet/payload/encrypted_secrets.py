"""Secrets that SOPS encrypted, decrypted for as long as they are applied: nothing that is decided, recorded or shown
has their plaintext."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gitfleet.api.objects import JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput, GitfleetError, MissingPart, RetryLater
from gitfleet.formats.sops import encrypted_outside, is_encrypted_text, is_sops_encrypted, with_values
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.operations import Create, Outcome, OutcomeCode, Update, Write
from gitfleet.payload.builds import ReadBlobs
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.decryption import Decryptor

log = logging.getLogger(__name__)
_Writes = Mapping[str, Sequence[Write]]
_Values = dict[str, Mapping[int, Mapping[str, str]] | GitfleetError]
"""What each encrypted text of a file stands for by the document's index, or why that is not known; by the file's
blob."""


@dataclass(frozen=True, slots=True)
class EncryptedSecrets:
    """Decrypts by the file that a manifest was read from, whose MAC is checked each time."""

    read: ReadBlobs
    decryptor: Decryptor | None

    def of_one_file(self) -> Callable[[Manifest], JsonObject]:
        """Decrypts the objects of a file, which is decrypted once. BadInput or MissingPart why one cannot be had, in
        the words of a predicate."""
        return partial(self._decrypted, values_by_blob={})

    def perform(self, perform: Callable[[_Writes], tuple[Outcome, ...]], writes: _Writes) -> tuple[Outcome, ...]:
        """Perform what is to be written with encrypted Secrets decrypted; what cannot be decrypted has failed. The
        outcomes are those of the operations as they were given."""
        values, refused = _Values(), list[Outcome]()
        encrypted: dict[tuple[str, ObjectKey, PlacementKey], Manifest] = {}
        decrypted: dict[str, list[Write]] = {}
        for cluster, operations in writes.items():
            for operation in operations:
                if isinstance(operation, Create | Update) and is_sops_encrypted(operation.manifest.body):
                    subject = Subject.of_object(operation.key, cluster)
                    body = attempt(subject, self._decrypted, operation.manifest, values)
                    if isinstance(body, Failure):
                        refused.append(_refused(operation, body))
                        continue
                    encrypted[cluster, operation.key, operation.placement] = operation.manifest
                    operation = replace(operation, manifest=replace(operation.manifest, body=body))
                decrypted.setdefault(cluster, []).append(operation)
        outcomes = perform(decrypted) if decrypted else ()
        return (*(_as_given(outcome, encrypted) for outcome in outcomes), *refused)

    def _decrypted(self, manifest: Manifest, values_by_blob: _Values) -> JsonObject:
        blob = manifest.origin.blob
        if manifest.key.kind != "Secret" or manifest.key.group or encrypted_outside(manifest.body):
            raise BadInput(PayloadText.ENCRYPTED_MORE_DATA_STRINGDATA_SECRETS())
        if blob not in values_by_blob:
            try:
                values_by_blob[blob] = self._values(blob)
            except GitfleetError as refusal:
                values_by_blob[blob] = refusal
        values = values_by_blob[blob]
        if isinstance(values, GitfleetError):
            raise values
        return with_values(manifest.body, _Lookup(values[manifest.origin.document]))

    def _values(self, blob: str) -> Mapping[int, Mapping[str, str]]:
        if self.decryptor is None:
            raise MissingPart(PayloadText.ENCRYPTED_NOTHING_DECRYPTED_HERE())
        content = self.read([blob]).get(blob) if blob else None
        if content is None:
            raise BadInput(PayloadText.NOT_ANY_MORE_ENCRYPTED())
        return self.decryptor.values(content)


class _Lookup:
    """What a text stands for, in a field; in `data` an encrypted text may be encoded, as `stringData` is for a server
    (`as_stored`)."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._encoded = {_base64(text): _base64(value) for text, value in values.items()}

    def __call__(self, field: str, text: str) -> str:
        """The value; BadInput where it is encrypted and not known."""
        if is_encrypted_text(text):
            if text not in self._values:
                raise BadInput(PayloadText.ENCRYPTED_VALUE_NO_TEXT_PUT())
            return self._values[text]
        return self._encoded.get(text, text) if field == "data" else text


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _as_given(outcome: Outcome, encrypted: Mapping[tuple[str, ObjectKey, PlacementKey], Manifest]) -> Outcome:
    done = outcome.operation
    manifest = encrypted.get((done.cluster, done.key, done.placement))
    if manifest is None or not isinstance(done, Create | Update):
        return outcome
    return replace(outcome, operation=replace(done, manifest=manifest))


def _refused(operation: Create | Update, failure: Failure) -> Outcome:
    if isinstance(failure.cause, GitfleetError):
        why, code = f"{operation.manifest.origin.path} {failure.cause}", OutcomeCode.INVALID
    else:
        log.error("%s", failure.report)
        why, code = failure.sentence, OutcomeCode.INTERNAL_ERROR
    retry = isinstance(failure.cause, RetryLater)
    return Outcome(operation=operation, ok=False, code=code, message=why, retry=retry)
