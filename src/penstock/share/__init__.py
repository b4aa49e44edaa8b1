"""Share partitions: what happens to the records of a partition that a share group consumes (KIP-932)."""
