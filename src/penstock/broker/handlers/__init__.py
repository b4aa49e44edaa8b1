"""One file per API; each registers its handlers with the router."""
