"""The Schema Registry: Confluent's API over a compacted topic."""
