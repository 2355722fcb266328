"""A stub of the interface of ScoringBench, for tests."""
