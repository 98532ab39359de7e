"""Tests of what leaves the process for rollouts."""
