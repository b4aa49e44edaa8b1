"""The engine under every pipeline: the only package that imports pyspark."""
