"""Reading records as a member of a share group."""
