"""Keys and values whose schema is in a Schema Registry, as JSON on a terminal: in both directions."""
