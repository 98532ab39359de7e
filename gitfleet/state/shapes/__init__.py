"""shapes: each object that the state branch keeps, as the JSON object that Kubernetes would show, and back.

A module holds both directions of one kind of object, side by side: `*_object` writes, `read_*` reads. What is written
for people alone (a placement's per-cluster statuses, say) is left out when reading. Unknown fields are ignored.
"""
