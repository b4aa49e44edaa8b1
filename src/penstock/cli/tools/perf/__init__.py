"""What the performance tools are made of: statistics, throttling, payloads, Java's dates and numbers."""
