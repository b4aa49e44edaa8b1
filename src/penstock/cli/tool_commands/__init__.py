"""Kafka's tools as commands of `penstock`."""
