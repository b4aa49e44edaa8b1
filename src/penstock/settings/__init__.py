"""Tables of settings: name, type, default, validator and documentation, in one place each."""
