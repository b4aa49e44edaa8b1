"""Of kafka-transactions."""
