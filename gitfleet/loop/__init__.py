"""loop: the driver of one reconcile (gather, decide, publish, perform, report), and what wakes it."""
