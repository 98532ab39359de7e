"""report: decisions and observations = files of the state branch, byte-stable; and back.

    compose_state(before, after) -> StateChange      the files to write, link and remove (empty when nothing changed)
    read_state(files) -> FleetState

Source: contracts.md §2; kubefleet.md §9.
"""
