"""kafka-streams-application-reset: has a program of Kafka Streams begin anew, with its offsets and its own topics."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType

from penstock.cli.options.joptsimple import OptionError, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.application_reset.members import make_sure_nobody_is_there
from penstock.cli.tools.application_reset.offsets import reset_offsets
from penstock.cli.tools.application_reset.options import configs_of, read_options
from penstock.cli.tools.application_reset.own_topics import delete_own_topics
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.failures import as_future_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.client.admin.topics import list_topics
from penstock.errors import PenstockError
from penstock.wire_client import Cluster, now

TOOL = "kafka-streams-application-reset"
FAILED = 1
NOTHING: Mapping[str, str] = MappingProxyType({})


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, reset, arguments)


def reset(words: list[str], configs: Mapping[str, str] = NOTHING) -> int:
    """`configs` are settings of clients that hold where a file of the command line says nothing else."""
    options = read_options(words)
    try:
        return _reset(options, configs)
    except OptionError as error:
        err(f"ERROR: {error.java_name}: {error}")
        return FAILED
    except (PenstockError, OSError) as failure:
        err(f"ERROR: {failure}")
        return FAILED


def _reset(options: OptionSet, defaults: Mapping[str, str]) -> int:
    application_id = options.value("application-id")
    configs = configs_of(options, defaults)
    with admin_client(configs) as cluster:
        make_sure_nobody_is_there(cluster, application_id, force=options.has("force"))
        there = _topics_there(cluster)
        if options.has("dry-run"):
            print(
                "----Dry run displays the actions which will be performed when running Streams Reset Tool----"
            )
        all_found = reset_offsets(cluster, options, configs, there)
        delete_own_topics(cluster, options, there)
    return 0 if all_found else FAILED


def _topics_there(cluster: Cluster) -> list[str]:
    with failing(as_future_says):
        return in_hash_order(topic.name for topic in now(list_topics(cluster, include_internal=False)))


if __name__ == "__main__":
    sys.exit(main())
