"""What the tools that produce and consume have in common."""
