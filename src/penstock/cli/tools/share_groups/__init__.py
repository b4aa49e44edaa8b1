"""The parts of kafka-share-groups."""
