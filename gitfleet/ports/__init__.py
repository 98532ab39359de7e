"""The ports: what the inside needs from the outside, as Protocols, the values they speak in, and the base classes of
plug-ins.

Readers stand apart from writers, no Protocol has more than eight methods, and nothing here does any work.
`adapters` implements them on real parts, `simulation` in memory; only `wiring` chooses.
"""
