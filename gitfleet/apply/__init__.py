"""apply: works against live objects = create, update, delete, keep or refuse, each with its reason.

    plan_apply(request) -> tuple[Operation, ...]     one cluster: its works, its inventory, its live objects

Source: kubefleet.md §6; decisions D7, D15.
"""
