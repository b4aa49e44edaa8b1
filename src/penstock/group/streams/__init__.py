"""Streams groups (KIP-1071): the group coordinator of Kafka Streams programs."""
