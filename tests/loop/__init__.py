"""The loop: commits to values, reconciles, and when to reconcile."""
