"""simulation: API servers, a git remote and a clock in memory, for `simulate`, `demo` and plans on simulated clusters.

    cluster.SimulatedCluster                Transport to a server in memory, with faults (unreachable, refusals, drift)
    requests.respond                        the HTTP side of that server; `refusals` has its words
    controllers, pods                       what controllers write into objects, and the pods of workloads
    fleet.SimulatedFleet                    all clusters on one clock; saved to files and loaded between runs
    fleet.SimulatedDirectory                ClusterDirectory over a fleet; the clients are the real adapter's (wiring)
    clock.ManualClock                       the Clock port, moved by hand
    memory_repo.MemoryRepo                  RepoReader and RepoWriter in memory
    rules.rule_for                          how clusters treat objects (docs/simulate.md)
    scenario.read_scenario                  a scenario file becomes a Scenario, or all its faults

The simulated server is compared with a real one in tests/simulation/test_against_real_server.py, and pods with those of
real controllers in test_pods_on_real_cluster.py. Known differences: it has no schemas, so it fills in and
refuses only what `bodies` and `kinds` name; lists of custom kinds are atomic; a custom map that loses
its last field goes (a real server makes it null and refuses the object); a deletion is complete at once unless
finalizers keep it.
Forbidden here: adapters, the loop, the commands.
"""
