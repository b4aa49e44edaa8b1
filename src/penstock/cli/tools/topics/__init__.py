"""What kafka-topics is made of."""
