"""Schemas that the tests register."""

import json

USER = json.dumps(
    {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}, separators=(",", ":")
)
USER_WITH_AGE = json.dumps(
    {
        "type": "record",
        "name": "User",
        "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": "int", "default": 0}],
    },
    separators=(",", ":"),
)
USER_WITH_EMAIL = json.dumps(
    {
        "type": "record",
        "name": "User",
        "fields": [{"name": "name", "type": "string"}, {"name": "email", "type": "string"}],
    },
    separators=(",", ":"),
)


def enum(*symbols: str, name: str = "Colour") -> str:
    return json.dumps({"type": "enum", "name": name, "symbols": symbols}, separators=(",", ":"))
