"""What kafka-configs is made of."""
