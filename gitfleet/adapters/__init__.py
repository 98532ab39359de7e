"""adapters: the ports on real parts (git, Kubernetes, clock, caches). Imported by `wiring` alone."""
