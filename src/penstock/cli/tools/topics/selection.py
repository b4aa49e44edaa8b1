"""Which topics a command is about: those whose name matches, or the one with an id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import CommandFailure
from penstock.client.admin.topics import INTERNAL_TOPICS, list_topics
from penstock.wire_client import Cluster

if TYPE_CHECKING:
    import re


async def selected_topics(cluster: Cluster, options: OptionSet) -> list[str]:
    """The names that match `--topic`, all of them without it, sorted."""
    exclude_internal = options.has("exclude-internal")
    listed = await list_topics(cluster, include_internal=not exclude_internal)
    names = sorted(topic.name for topic in listed)
    if exclude_internal:
        names = [name for name in names if name not in INTERNAL_TOPICS]
    if not options.has("topic"):
        return names
    matches = _pattern(options.value("topic")).fullmatch
    return [name for name in names if matches(name)]


async def existing_topics(cluster: Cluster, options: OptionSet) -> list[str]:
    """The same; there must be one if a name is given, unless `--if-exists` is."""
    names = await selected_topics(cluster, options)
    wanted = options.value("topic")
    if not names and wanted and not options.has("if-exists"):
        raise CommandFailure(f"Topic '{wanted}' does not exist as expected")
    return names


def _pattern(text: str) -> re.Pattern[str]:
    import re

    plain = text.strip().replace(",", "|").replace(" ", "").lstrip("\"'").rstrip("\"'")
    try:
        return re.compile(plain)
    except re.error:
        raise CommandFailure(f"{plain} is an invalid regex.") from None


async def existing_topic_id(cluster: Cluster, options: OptionSet, topic_id: str) -> str | None:
    listed = await list_topics(cluster, include_internal=not options.has("exclude-internal"))
    if any(topic.topic_id == topic_id for topic in listed):
        return topic_id
    if options.has("if-exists"):
        return None
    raise CommandFailure(f"TopicId '{topic_id}' does not exist as expected")
