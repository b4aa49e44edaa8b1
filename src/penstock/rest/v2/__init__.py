"""Confluent's older API: topics, producing, and consumer instances. Its paths do not say its version."""
