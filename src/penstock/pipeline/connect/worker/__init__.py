"""A worker of a Connect cluster: shares connectors with the others, and runs those that are its own."""
