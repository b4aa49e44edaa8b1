"""Programs of streams as several systems run them, and what they take for the same records."""
