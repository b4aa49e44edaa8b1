"""Records whose bytes say which schema of the registry they were written with, as JSON and back."""
