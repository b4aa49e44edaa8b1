"""What a continuous query is: sources, processors with their operations and stores, sinks; all frozen values.

One set of nodes for the DSL and for SQL. A plan says what is to be done; `pipeline.operators` does it. Names, numbers
and texts are those of Kafka Streams, so that a topology is described, and its internal topics are called, as there.
"""
