"""What the verifiable producer and consumer have in common."""
