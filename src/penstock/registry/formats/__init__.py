"""Avro, JSON Schema and Protobuf: each parses, has one canonical form, and says what is incompatible."""
