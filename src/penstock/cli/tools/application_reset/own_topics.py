"""The topics that the program has made for itself: found by their names, and deleted."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tool import err
from penstock.cli.tools.common.failures import CommandFailure, as_future_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.streams_groups.topics import is_named_like_internal
from penstock.client.admin.topic_changes import delete_topics
from penstock.wire_client import Cluster, now


def delete_own_topics(cluster: Cluster, options: OptionSet, there: Sequence[str]) -> None:
    inferred, specified = _inferred(options, there), options.values("internal-topics")
    if not set(specified) <= set(inferred):
        raise CommandFailure(
            "java.lang.IllegalArgumentException: Invalid topic specified in the --internal-topics option. "
            "Ensure that the topics specified are all internal topics. Do a dry run without the --internal-topics "
            "option to see the list of all internal topics that can be deleted."
        )
    topics = specified or inferred
    print(f"Deleting {'specified' if specified else 'inferred'} internal topics [{', '.join(topics)}]")
    if topics and not options.has("dry-run"):
        _delete(cluster, topics)
    print("Done.")


def _inferred(options: OptionSet, there: Sequence[str]) -> list[str]:
    """A topic that the user names as an input is none, whatever it is called."""
    named = {*options.values("input-topics"), *options.values("intermediate-topics")}
    application_id = options.value("application-id")
    return [topic for topic in there if topic not in named and is_named_like_internal(topic, application_id)]


def _delete(cluster: Cluster, topics: Sequence[str]) -> None:
    outcome = now(delete_topics(cluster, topics))
    failed = {topic: error for topic, error in outcome.items() if error is not None}
    for topic in in_hash_order(failed):
        err(f"ERROR: deleting topic {topic}: {as_future_says(failed[topic])}")
    if failed:
        raise CommandFailure("java.lang.RuntimeException: Encountered an error deleting one or more topics")
