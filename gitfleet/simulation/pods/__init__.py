"""simulation.pods: the pods of simulated workloads, and what their controllers make of them.

    control.start, control.go_on    the pods and the status after a change of the spec, and after time has passed
    model.Workload                  the pods of one workload, of all revisions of its template: a value
    work.Work                       the same while a controller is at it
    deployments, stateful_sets, daemon_sets, clone_sets     one controller each
    views                           pods as an API server shows them

Pure: what a controller does depends on the object, its pods, the time and the rules alone. Pods are no stored objects:
an API server shows them from the model (`virtual_pods`).
"""
