"""testing: the ports in memory, shipped because `simulate`, `make demo` and users' own tests run on them.

    clock.ManualClock                       the Clock port, moved by hand
    memory_repo.MemoryRepo                  RepoReader and RepoWriter in memory
    cluster.SimulatedCluster                ClusterClient in memory, with faults (unreachable, refusals, crashes, drift)
    fleet.SimulatedFleet                    all of them on one clock; saved to files and loaded between runs
    fleet.SimulatedDirectory                ClusterDirectory over a fleet
    rules.ClusterRule, ObjectPattern        how clusters treat objects (contracts.md §5)
    scenario.read_scenario                  a scenario file becomes a Scenario, or all its faults

The simulated API server is compared with a real one in tests/simulation/test_against_real_server.py. Known
differences: it
has no schemas, so it defaults nothing but replicas and refuses only what `kinds` names; lists of custom kinds are
atomic; a custom map that loses its last field goes (a real server makes it null and refuses the object); a deletion is
complete at once unless finalizers hold it. Forbidden here: adapters, the loop, the commands.
"""
