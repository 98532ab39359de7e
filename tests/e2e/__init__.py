"""The whole program on real parts: real processes, git over HTTP, real API servers. What users see decides.

The clusters are shared by all tests of a run; each test keeps to namespaces of its own (`Members.namespace`).
"""
