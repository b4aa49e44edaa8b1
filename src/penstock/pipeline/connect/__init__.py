"""Kafka Connect: data in and out of Kafka without code."""
