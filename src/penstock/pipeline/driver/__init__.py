"""Runs plans in memory, without Kafka and Spark: for tests of programs, and for those of the operators themselves."""
