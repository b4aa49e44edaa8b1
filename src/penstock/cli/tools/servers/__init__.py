"""How servers are started and stopped."""
