"""Every sentence of gitfleet.serving, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ServingText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    ADD_ONE_LEAVE_NOTIFY_OUT = "add one, or leave --notify out"
    FLEET_RECONCILED_ALL_SAME = "{error}; {until}, the fleet is reconciled all the same"
    FOLLOWS_WHSEC_NO_BASE64 = "{where}: what follows whsec_ is no base64"
    HOLDS_NO_WEBHOOK_SECRET = "{where} holds no webhook secret: one on each line, of {shortest} characters at least"
    LOOP_WOKEN = "the loop is woken"
    MAKE_ONE_OPENSSL_RAND_HEX = "make one with `openssl rand -hex 32`, and give the same to the forge"
    MESSAGE_DROPPED = "message {id} is dropped"
    NOBODY_TOLD_NOTIFICATION = "nobody is told by notification %s: no --notify %s=FILE says where it is"
    NOTHING_PATH = "there is nothing at this path"
    NOTIFICATIONS_DELIVERED_AGAIN = "notifications to %s are delivered again"
    NOTIFICATION_FLEET_RECONCILED_ALL_SAME = "notification %s: %s; %s, the fleet is reconciled all the same"
    NOTIFICATION_PROCESS_ENDS_BEFORE_ALL = "notification %s: the process ends before all is delivered"
    NOTIFY_SPEC_NOTIFICATIONS_NO_DESTINATION = "--notify %s: spec.notifications has no destination of that name; %s"
    NOT_TRIED_AGAIN = "not tried again"
    NO_MORE_UNTIL_TOKEN_CHANGES = "no more {kind} until the token changes or gitfleet starts again"
    RECONCILING_AGAIN_AFTER_FAILURES = "reconciling again after {failed} failures"
    RECONCILING_FAILED_TIMES_ROW = "reconciling has failed {failed} times in a row"
    REQUEST_REFUSED_SIGNATURE_MISSING_WRONG = "a request to {request} was refused: its signature is missing or wrong"
    SECRET_WEBHOOK_CANNOT_READ = "the secret of this webhook cannot be read"
    SIGNATURE_MISSING_WRONG = "the signature is missing or wrong"
    TOO_MANY_REQUESTS = "too many requests"
    TRIED_AGAIN_LATER = "tried again later"
    TRYING_AGAIN_LATER = "{known}; trying again later, the fleet is reconciled all the same"
    WHETHER_PROCESS_RECONCILES_STANDS = "Whether this process reconciles (1) or stands by (0)"
