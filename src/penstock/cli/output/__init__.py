"""What `penstock` shows to people and to programs."""
