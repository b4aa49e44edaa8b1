"""Pipelines: Connect, Streams, SQL and mirrors, which all run on Spark."""
