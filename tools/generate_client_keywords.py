"""Writes `penstock.client.config.keywords`: the settings of the clients as type checkers see them."""

import re
from collections.abc import Iterator
from pathlib import Path

from penstock.client.config.admin import ADMIN_TABLE
from penstock.client.config.consumer import CONSUMER_TABLE
from penstock.client.config.producer import PRODUCER_TABLE
from penstock.client.config.setting import ClientSetting, ClientTable
from penstock.settings.kinds import Kind

KEYWORDS = Path(__file__).parent.parent / "src/penstock/client/config/keywords"
TABLES = {"Producer": PRODUCER_TABLE, "Consumer": CONSUMER_TABLE, "Admin": ADMIN_TABLE}

HEAD = '''\
"""Generated from the table of settings by `make generate`: what type checkers and editors see of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from penstock.client.producer.partitioners import PartitionerSpec
    from penstock.client.records import DeliveryCallback
    from penstock.client.registry.subjects import SubjectNameStrategySpec
    from penstock.client.serializers import DeserializerSpec, SerializerSpec
'''
_ATTRIBUTE_TYPES = {Kind.LIST: "tuple[str, ...]"}


def render_all() -> dict[str, str]:
    return {f"{name.lower()}.py": _module(name, table) for name, table in TABLES.items()}


def _module(name: str, table: ClientTable) -> str:
    body = "".join(_classes(name, table))
    return _used_imports(HEAD, body) + body


def _used_imports(head: str, body: str) -> str:
    """The head without the names that the body does not use."""
    lines = []
    for line in head.splitlines():
        before, is_import, names = line.partition(" import ")
        used = [one for one in names.split(", ") if re.search(rf"\b{one}\b", body) or one == "TYPE_CHECKING"]
        if not is_import or used:
            lines.append(f"{before} import {', '.join(used)}" if is_import else line)
    text = "\n".join(lines) + "\n"
    return (
        text.replace("\nif TYPE_CHECKING:\n", "").replace("TYPE_CHECKING, ", "")
        if "    from" not in text
        else text
    )


def _classes(name: str, table: ClientTable) -> Iterator[str]:
    yield f"\n\nclass {name}Keywords(TypedDict, total=False):\n"
    for setting in table.values():
        yield f"    {setting.attribute}: {_quoted_if_late(setting.python_type)}\n"
    yield f"\n\nclass {name}Attributes:\n"
    for setting in table.values():
        yield f"    {setting.attribute}: {_quoted_if_late(_attribute_type(setting))}\n"


def _attribute_type(setting: ClientSetting) -> str:
    known = {"acks": "str"}.get(setting.name) or (
        _ATTRIBUTE_TYPES.get(setting.kind) if setting.kind else None
    )
    plain = known or setting.python_type
    optional = setting.default is None and setting.name != "bootstrap.servers" and "None" not in plain
    return f"{plain} | None" if optional and plain != "object" else plain


def _quoted_if_late(annotation: str) -> str:
    """Names that are imported for type checkers only stand in quotes."""
    late = any(name in annotation for name in ("Spec", "DeliveryCallback"))
    return f'"{annotation}"' if late else annotation


def main() -> None:
    for name, text in render_all().items():
        (KEYWORDS / name).write_text(text)


if __name__ == "__main__":
    main()
