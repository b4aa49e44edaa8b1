"""kafka-topics: lists, describes, creates, alters and deletes topics.

What `--list` does not need is imported only by the command that does: it starts in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from penstock.cli.options.joptsimple import OptionError, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import AdminNotCreated, admin_client, admin_configs
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.topics.options import ACTIONS, parse_options
from penstock.cli.tools.topics.selection import selected_topics
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

Action = Callable[[Cluster, OptionSet], Coroutine[None, None, None]]


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-topics", topics, arguments)


def topics(words: list[str]) -> int:
    options = parse_options(words)
    try:
        with admin_client(admin_configs(options)) as cluster:
            now(_action(options)(cluster, options))
    except AdminNotCreated:
        raise
    except (KafkaError, CommandFailure, OptionError) as error:
        print(f"Error while executing topic command : {error}")
        return 1
    return 0


def _action(options: OptionSet) -> Action:
    name = next(action for action in ACTIONS if options.has(action))
    if name == "list":
        return list_
    if name == "describe":
        from penstock.cli.tools.topics.describe import describe

        return describe
    from penstock.cli.tools.topics import change

    return {"create": change.create, "alter": change.alter, "delete": change.delete}[name]


async def list_(cluster: Cluster, options: OptionSet) -> None:
    print("\n".join(await selected_topics(cluster, options)))


if __name__ == "__main__":
    raise SystemExit(main())
