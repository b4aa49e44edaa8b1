"""Penstock: the whole Kafka platform in one pip install."""

__version__ = "0.1.0"
