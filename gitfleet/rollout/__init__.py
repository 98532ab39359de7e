"""rollout: which bindings move now, from one shared core for rolling updates, staged runs, evictions and budgets.

    plan_rollout(request) -> RolloutPlan

Source: kubefleet.md §3; decisions D1, D6, D13, D18.
"""
