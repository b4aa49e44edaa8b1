"""The parts of kafka-reassign-partitions."""
