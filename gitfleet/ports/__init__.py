"""The ports: what the inside needs from the outside, as Protocols only.

Readers stand apart from writers, no Protocol has more than eight methods, and nothing here does any work.
`adapters` implements them on real parts, `testing` in memory; only `wiring` chooses.
"""
