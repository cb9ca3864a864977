"""Tests of the benchmarks: that they count what is there. None measures time."""
