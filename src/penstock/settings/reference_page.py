"""The reference pages of the settings, written from their tables."""

from collections.abc import Iterable

from penstock.settings import kinds
from penstock.settings.broker import BROKER_TABLE
from penstock.settings.group_config import GROUP_TABLE
from penstock.settings.recognised import RECOGNISED_TABLE
from penstock.settings.table import Setting, Table
from penstock.settings.topic import TOPIC_TABLE

_TOPIC_INTRODUCTION = """\
# Topic settings

Set them when the topic is created, or later with `kafka-configs --alter --entity-type topics`; a change takes
effect without a restart. What a topic does not set comes from the broker's setting named in the last column
(the first that is set), and else is the default.
"""

_GROUP_INTRODUCTION = """\
# Group settings

Set them with `kafka-configs --alter --entity-type groups --entity-name <group>`; a change takes effect without a
restart. What a group does not set comes from the broker's setting named in the last column. That one also has its
bounds at the broker: `group.consumer.min.session.timeout.ms` and `group.consumer.max.session.timeout.ms` for
`consumer.session.timeout.ms`.
"""

_BROKER_INTRODUCTION = """\
# Broker settings

In `server.properties`, or as `--override name=value`. Changes while the broker runs: `cluster-wide` settings
for one broker or for all, `per-broker` ones for one broker, `read-only` ones at the next start. In the column
*honoured*, `not yet` means that the feature the setting belongs to is not there, `none` that it has no
meaning here; the name is accepted and the value's type checked.
"""

_RECOGNISED_INTRODUCTION = """
## Accepted without effect

Names that Kafka 3.9 or 4.3 knows. A file that has them starts the broker without a warning.
"""


def topic_settings_page() -> str:
    return f"{_TOPIC_INTRODUCTION}\n{_table_with_synonyms(TOPIC_TABLE)}"


def group_settings_page() -> str:
    return f"{_GROUP_INTRODUCTION}\n{_table_with_synonyms(GROUP_TABLE)}"


def _table_with_synonyms(settings: Table) -> str:
    rows = (
        (*_common_cells(one), _code(", ".join(synonym.name for synonym in one.broker_synonyms)))
        for one in settings.values()
        if not one.internal
    )
    return _table(("name", "takes", "default", "what it does", "broker's setting"), rows)


def settings_table(settings: Table) -> str:
    """For settings that are read once, at the start."""
    return _table(
        ("name", "takes", "default", "what it does"), (_common_cells(one) for one in settings.values())
    )


def broker_settings_page() -> str:
    honoured = (
        (*_common_cells(one), one.scope.value, one.effect.value)
        for one in BROKER_TABLE.values()
        if not one.internal
    )
    accepted = (
        (*_common_cells(one)[:3], one.scope.value, one.doc)
        for one in RECOGNISED_TABLE.values()
        if not one.internal
    )
    return (
        f"{_BROKER_INTRODUCTION}\n"
        + _table(("name", "takes", "default", "what it does", "changes", "honoured"), honoured)
        + f"{_RECOGNISED_INTRODUCTION}\n"
        + _table(("name", "takes", "default", "changes", "why without effect"), accepted)
    )


PAGES = {
    "topic_settings.md": topic_settings_page,
    "group_settings.md": group_settings_page,
    "broker_settings.md": broker_settings_page,
}


def _common_cells(setting: Setting) -> tuple[str, str, str, str]:
    default = kinds.to_text(setting.default)
    shown = "none" if default is None else _code(default) or "empty"
    return _code(setting.name), setting.what_it_takes, shown, setting.doc


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
