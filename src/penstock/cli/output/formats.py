"""What `--output` takes."""

JSON, TABLE, TEXT = "json", "table", "text"
FORMATS = (TABLE, JSON, TEXT)
