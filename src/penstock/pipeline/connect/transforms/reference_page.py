"""The reference page of transforms, predicates and converters, written from their tables and definitions."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.client.registry.settings import SERDE_TABLE
from penstock.pipeline.connect import converters, predicates, transforms
from penstock.pipeline.connect.api.config_def import ConfigKey

INTRODUCTION = """\
# Transforms, predicates and converters of Connect

All that come with Kafka, and Confluent's converters, under the names and settings that they have there. A name may also
be given without its package (`InsertField$Value`, `JsonConverter`). Your own are classes in Python:
`penstock.pipeline.connect.api` has `Transformation`, `Predicate` and `Converter`.

```properties
transforms=mask,route
transforms.mask.type=org.apache.kafka.connect.transforms.MaskField$Value
transforms.mask.fields=card
transforms.route.type=RegexRouter
transforms.route.regex=(.*)
transforms.route.replacement=archive-$1
transforms.route.predicate=deleted
transforms.route.negate=true
predicates=deleted
predicates.deleted.type=RecordIsTombstone
```

What differs from Kafka: regular expressions are Python's, with Java's spelling (no intersections of classes in
brackets); dates are of the years 1 to 9999; `SetSchemaMetadata` names the schemas of all values, not of structs alone;
`timestamp.format` is checked when the connector is made.
"""
REGISTRY = """\
Settings of the registry and its serializers (`schema.registry.url`, `auto.register.schemas`, `use.latest.version`,
`value.subject.name.strategy`, ...) are those of the clients: [client settings](client_settings.md).
"""


def connect_transforms_page() -> str:
    sections = [
        INTRODUCTION,
        "## Transforms\n",
        *_sections(transforms.JAVA_NAMES),
        "## Predicates\n",
        *_sections(predicates.JAVA_NAMES),
        "## Converters\n",
        REGISTRY,
        *_sections(converters.JAVA_NAMES),
    ]
    return "\n".join(sections)


def _sections(java_names: Mapping[str, str]) -> Iterator[str]:
    """`Cast$Key` and `Cast$Value` are told of together."""
    told: dict[str, list[str]] = {}
    for java_name in java_names:
        told.setdefault(java_name.partition("$")[0], []).append(java_name)
    for name, own in sorted(told.items(), key=lambda item: item[0].rpartition(".")[2]):
        cls = _class(java_names[own[0]])
        listed = ", ".join(f"`{each}`" for each in own)
        yield f"### {name.rpartition('.')[2]}\n\n{cls.overview}\n\n{listed}\n{_table(cls)}"


def _class(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def _table(cls: Any) -> str:
    keys = [key for key in cls.config_def if key.name not in SERDE_TABLE]
    if not keys:
        return ""
    rows = "".join(map(_row, keys))
    return f"\n| name | type | default | meaning |\n|---|---|---|---|\n{rows}"


def _row(key: ConfigKey) -> str:
    default = "(required)" if key.is_required else f"`{_shown(key.default)}`"
    return f"| `{key.name}` | {key.type.value.lower()} | {default} | {key.doc} |\n"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else ",".join(value) if isinstance(value, list) else str(value)
