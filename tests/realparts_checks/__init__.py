"""Checks that the real parts of the test-suite keep their promises."""
