"""The reference page of the clients' settings, written from their tables."""

from collections.abc import Iterable

from penstock.client.config.admin import ADMIN_TABLE
from penstock.client.config.consumer import CONSUMER_TABLE
from penstock.client.config.native import ALIASES, NATIVE_NAMES
from penstock.client.config.producer import PRODUCER_TABLE
from penstock.client.config.setting import ClientSetting
from penstock.client.config.without_effect import why_without_effect
from penstock.settings import kinds

_INTRODUCTION = """\
# Client settings

`ProducerConfig`, `ConsumerConfig` and `AdminConfig` take them by Kafka's dotted names, in a mapping, or as keywords
with underscores; `KafkaProducer`, `KafkaConsumer` and `KafkaAdmin` take the same. A value may be text, as in a
properties file. A name that is unknown is refused with the nearest one, a bad value with what it takes. Defaults are
those of Kafka's Java client, but for those that say so. librdkafka's names for the same settings are accepted too; they
are in the last column.
"""
_TABLES = {
    "Producer": PRODUCER_TABLE,
    "Consumer": CONSUMER_TABLE,
    "Admin client": ADMIN_TABLE,
}
_NATIVE_INTRODUCTION = """
## librdkafka's own settings

They are passed on as they are. Where there is no default, it is librdkafka's.
"""
_WITHOUT_EFFECT_INTRODUCTION = """
## Accepted without effect

Names of Kafka's Java client. They are accepted with a warning.
"""


def client_settings_page() -> str:
    parts = [_INTRODUCTION]
    for title, table in _TABLES.items():
        own = (one for one in table.values() if not _is_native(one) and not why_without_effect(one.name))
        parts += [f"\n## {title}\n\n", _own_table(own)]
    every = {name: one for table in _TABLES.values() for name, one in table.items()}
    native = [(*_cells(one)[:4], _users(one.name)) for one in every.values() if _is_native(one)]
    parts += [
        f"{_NATIVE_INTRODUCTION}\n",
        _table(("name", "takes", "default", "what it does", "clients"), native),
    ]
    idle = [(f"`{name}`", why) for name in every if (why := why_without_effect(name))]
    parts += [f"{_WITHOUT_EFFECT_INTRODUCTION}\n", _table(("name", "why without effect"), idle)]
    return "".join(parts)


def _is_native(setting: ClientSetting) -> bool:
    return setting.name in NATIVE_NAMES


def _users(name: str) -> str:
    return ", ".join(title.lower() for title, table in _TABLES.items() if name in table)


def _own_table(settings: Iterable[ClientSetting]) -> str:
    rows = ((*_cells(one), _aliases(one.name)) for one in settings)
    return _table(("name", "takes", "default", "what it does", "librdkafka's name"), rows)


def _aliases(name: str) -> str:
    return ", ".join(f"`{alias}`" for alias, meant in ALIASES.items() if meant == name)


def _cells(setting: ClientSetting) -> tuple[str, str, str, str]:
    text = kinds.to_text(setting.default)  # type: ignore[arg-type]
    default = "none" if text is None else f"`{text}`" if text else "empty"
    return f"`{setting.name}`", setting.what_it_takes, default, setting.doc


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
