"""Avro, JSON Schema and Protobuf: each parses, names its schemas in one canonical form, and says what is incompatible."""
