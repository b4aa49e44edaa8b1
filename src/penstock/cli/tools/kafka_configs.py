"""kafka-configs: describes and alters configs of topics, brokers, groups and the rest, quotas and SCRAM credentials."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionError, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.common.admin_client import admin_client_of
from penstock.cli.tools.common.failures import CommandFailure, as_java_says
from penstock.cli.tools.configs.changes import changes_of
from penstock.cli.tools.configs.entities import (
    CLIENTS,
    DEFAULT_NAME,
    IPS,
    RESOURCES,
    Entities,
    entities_of,
    singular,
)
from penstock.cli.tools.configs.options import parse_options
from penstock.errors import PenstockError
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-configs", configs, arguments)


def configs(words: list[str]) -> int:
    try:
        _process(parse_options(words))
    except (OptionError, CommandFailure) as error:
        err(str(error))
        return 1
    except PenstockError as error:
        err(f"Error while executing config command with args '{' '.join(words)}'")
        err(as_java_says(error) if isinstance(error, KafkaError) else str(error))
        return 1
    return 0


def _process(options: OptionSet) -> None:
    entities = entities_of(options)
    with admin_client_of(options) as cluster:
        now(
            _alter(cluster, options, entities)
            if options.has("alter")
            else _describe(cluster, options, entities)
        )


async def _describe(cluster: Cluster, options: OptionSet, entities: Entities) -> None:
    if entities.type in RESOURCES:
        from penstock.cli.tools.configs.resources import describe_resources

        name = entities.names[0] if entities.names else None
        await describe_resources(cluster, entities.type, name, all_=options.has("all"))
        return
    from penstock.cli.tools.configs.quotas import describe_credentials, describe_quotas

    await describe_quotas(cluster, entities)
    if entities.type != IPS and CLIENTS not in entities.types and DEFAULT_NAME not in entities.names:
        await describe_credentials(cluster, entities.names)


async def _alter(cluster: Cluster, options: OptionSet, entities: Entities) -> None:
    if len(entities.types) != len(entities.names):
        raise CommandFailure("An entity name must be specified for every entity type")
    changes = changes_of(options)
    if entities.type in RESOURCES:
        from penstock.cli.tools.configs.resources import alter_resource

        through_controller = options.has("bootstrap-controller")
        await alter_resource(
            cluster, entities.type, entities.name, changes, through_controller=through_controller
        )
    else:
        from penstock.cli.tools.configs.quotas import alter_addresses, alter_users_or_clients

        alter = alter_addresses if entities.type == IPS else alter_users_or_clients
        await alter(cluster, entities, changes)
    if entities.name:
        print(f"Completed updating config for {singular(entities.type)} {entities.name}.")
    else:
        print(f"Completed updating default config for {entities.type} in the cluster.")


if __name__ == "__main__":
    raise SystemExit(main())
