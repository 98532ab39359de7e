"""Fixtures that every test may ask for: the real parts (git over HTTP, kube-apiservers)."""

pytest_plugins = ["tests.realparts.fixtures", "tests.properties.options"]
