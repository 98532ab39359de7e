"""The real parts that tests run against: a Kubernetes control plane and git over HTTP.

Nothing here is a stand-in. ``control_plane`` runs etcd, kube-apiserver and
kube-controller-manager, ``git_http`` serves bare repositories with git's own
``http-backend``, and ``pods`` plays the one part that is left out, the kubelet;
``metrics_api`` plays the metrics-server.
``assets`` builds the control plane, helm and kustomize from the Go module in
``programs/`` once and keeps them outside the checkout; ``python -m
tests.realparts.assets`` does so ahead of time. ``fixtures`` offers all of it to pytest.

What is missing on a machine is skipped with a sentence that says what to do; with
``GITFLEET_REQUIRE_REAL_PARTS=1`` it is a failure instead.
"""
