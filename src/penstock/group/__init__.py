"""Group coordination: what `__consumer_offsets` remembers, and who may do what in a group."""
