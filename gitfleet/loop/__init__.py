"""loop: the driver of one tick (gather, decide, publish, perform, report), and what wakes it."""
