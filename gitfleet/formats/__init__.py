"""Each text format once: YAML, canonical JSON, quantities, durations and times, int-or-percent, masking of secrets,
and the table of built-in kinds.

This package knows texts and plain JSON values; what they mean is for the packages above. It imports nothing of gitfleet
but `errors`, does no I/O and reads no clock.
"""
