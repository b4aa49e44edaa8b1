"""What the tools for groups of a kind have in common: offsets that are to be reset."""
