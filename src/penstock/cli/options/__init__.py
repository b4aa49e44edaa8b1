"""Command lines in the manner of the two Java libraries that Kafka's tools use.

They are written for a fast start: they import nothing but what the interpreter has loaded anyway.
"""
