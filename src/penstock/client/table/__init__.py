"""Tables in Kafka: a compacted topic followed as what its records add up to, and written with or without a fence.

For services that keep their state in topics: Connect its configurations, offsets and states, the platform the programs
that it is to run. Who follows hears of each record in the order in which it was committed; who writes waits until that
has come back.
"""
