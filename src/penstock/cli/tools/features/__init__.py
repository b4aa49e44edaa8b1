"""Of kafka-features."""
