"""Codecs of keys and values: those of the clients by name, and those that operators put around them."""
