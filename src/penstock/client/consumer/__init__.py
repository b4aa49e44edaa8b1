"""Reading records: the consumer, blocking and for an event loop."""
