"""What most of the tools have in common."""
