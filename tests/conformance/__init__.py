"""The conformance runner (contracts.md §7): KubeFleet's behaviour as data, fed to the packages' own functions.

`python -m tests.conformance PATH [PATH...] [--show ID]` prints a line an area and, last, `N passed, M failed`. The
modules of `areas` map a case to a package's function and compare; they decide nothing themselves. `documents` writes
cases as the files that the product's readers read, `texts` lists where gitfleet's sentences are not KubeFleet's, and
why. `cases` has cases of our own in the same format: override staleness, which KubeFleet's leave out.
"""
