"""Names that only the broker knows: topics and groups; asked for quickly, or not at all."""

import logging
from collections.abc import Callable, Sequence

from penstock.cli.bootstrap_default import default_bootstrap_servers
from penstock.client.admin.groups import list_groups
from penstock.client.admin.topics import list_topics
from penstock.errors import PenstockError
from penstock.wire_client import Cluster, ClusterConfig, blocking_cluster, now

TIMEOUT_MS = 1_000
"""A broker that takes longer is not worth the wait at a prompt."""
BOOTSTRAP_FLAGS = ("--bootstrap-server", "--broker-list")


def topic_names(words: Sequence[str]) -> list[str]:
    return _ask(words, lambda cluster: [topic.name for topic in now(list_topics(cluster))])


def group_names(words: Sequence[str]) -> list[str]:
    return _ask(words, lambda cluster: [group.group_id for group in now(list_groups(cluster))])


def _ask(words: Sequence[str], question: Callable[[Cluster], list[str]]) -> list[str]:
    logging.getLogger("penstock.client").disabled = True
    configs = {
        "bootstrap.servers": _bootstrap_in(words) or default_bootstrap_servers(),
        "default.api.timeout.ms": TIMEOUT_MS,
        "request.timeout.ms": TIMEOUT_MS,
        "socket.connection.setup.timeout.ms": TIMEOUT_MS,
        "client.id": "penstock-completion",
    }
    try:
        with blocking_cluster(ClusterConfig.from_configs(configs)) as cluster:
            return sorted(question(cluster))
    except (PenstockError, OSError):
        return []


def _bootstrap_in(words: Sequence[str]) -> str | None:
    """What the command line says so far."""
    for position, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in BOOTSTRAP_FLAGS:
            servers = value if equals else next(iter(words[position + 1 :]), "")
            if ":" in servers:  # and not a list of broker ids
                return servers
    return None
