"""State stores in memory. Keys and values are kept as their bytes: what is put is what a changelog would get.

A value read twice is therefore two objects, so that an aggregator may change the one it gets; and the order of rows is
that of their keys' bytes, as in Kafka Streams.
"""
