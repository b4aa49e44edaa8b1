"""What the console producer and the console consumers are made of: the reader of lines, the formatters of records."""
