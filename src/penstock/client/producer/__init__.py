"""Sending records: the producer, blocking and for an event loop."""
