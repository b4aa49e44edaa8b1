"""The options of kafka-configs, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_invalid_args,
    command_parser,
    parse_command_line,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.options.kinds import java_int
from penstock.cli.tools.configs.entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENTS,
    DEFAULT_FLAGS,
    ENTITY_TYPES,
    IPS,
    NAME_FLAGS,
    USERS,
    WITH_DEFAULTS,
    Entities,
    entities_of,
)

ABOUT = (
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics "
    "or group"
)
SERVERS = "--bootstrap-server or --bootstrap-controller"


def parse_options(words: list[str]) -> OptionSet:
    parser = _parser()
    options = parse_command_line(parser, words, ABOUT)
    _check_action(parser, options)
    entities = entities_of(options)
    _check_types(options, entities)
    _check_names(options, entities)
    if options.has("describe"):
        _check_describe(options, entities)
    if options.has("alter"):
        _check_alter(options, entities)
    return options


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts("bootstrap-server", "The Kafka servers to connect to.", argument="server to connect to")
    parser.accepts(
        "bootstrap-controller", "The Kafka controllers to connect to.", argument="controller to connect to"
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client. This is used only with --bootstrap-server "
        "option for describing and altering broker configs.",
        argument="command config property file",
    )
    parser.accepts("alter", "Alter the configuration for the entity.")
    parser.accepts("describe", "List configs for the given entity.")
    parser.accepts("all", "List all configs for the given entity, including static configs if available.")
    _add_entities(parser)
    _add_changes(parser)
    return parser


def _add_entities(parser: OptionParser) -> None:
    parser.accepts(
        "entity-type",
        "Type of entity (topics/clients/users/brokers/broker-loggers/ips/client-metrics/groups)",
        argument="",
    )
    parser.accepts(
        "entity-name",
        "Name of entity (topic name/client id/user principal name/broker id/ip/client metrics/group id)",
        argument="",
    )
    parser.accepts(
        "entity-default",
        "Default entity name for clients/users/brokers/ips (applies to corresponding entity type)",
    )
    parser.accepts("topic", "The topic's name.", argument="")
    parser.accepts("client", "The client's ID.", argument="")
    parser.accepts("client-defaults", "The config defaults for all clients.")
    parser.accepts("user", "The user's principal name.", argument="")
    parser.accepts("user-defaults", "The config defaults for all users.")
    parser.accepts("broker", "The broker's ID.", argument="")
    parser.accepts("broker-defaults", "The config defaults for all brokers.")
    parser.accepts("broker-logger", "The broker's ID for its logger config.", argument="")
    parser.accepts("ip-defaults", "The config defaults for all IPs.")
    parser.accepts("ip", "The IP address.", argument="")
    parser.accepts("group", "The group's ID.", argument="")
    parser.accepts("client-metrics", "The client metrics config resource name.", argument="")


def _add_changes(parser: OptionParser) -> None:
    parser.accepts("add-config", _about_add_config, argument="")
    parser.accepts(
        "add-config-file",
        "Path to a properties file with configs to add. See add-config for a list of valid configurations.",
        argument="",
    )
    parser.accepts("delete-config", "config keys to remove 'k1,k2'", argument="", separator=",")


def _about_add_config() -> str:
    from penstock.cli.tools.configs.names import config_names

    lists = "".join(
        f"For entity-type '{entity_type}': \n" + "".join(f"\t{name}\n" for name in names)
        for entity_type, names in config_names().items()
    )
    return (
        "Key Value pairs of configs to add. Square brackets can be used to group values which contain commas: "
        f"'k1=v1,k2=[v1,v2,v2],k3=v3'. The following is a list of valid configurations: {lists}"
        f"Entity types '{USERS}' and '{CLIENTS}' may be specified together to update config for clients of a specific "
        "user."
    )


# --- which go together


def _check_action(parser: OptionParser, options: OptionSet) -> None:
    if options.has("alter") == options.has("describe"):
        print_usage_and_exit(parser, "Command must include exactly one action: --describe, --alter")
    check_invalid_args(parser, options, "describe", "add-config", "delete-config")


def _check_types(options: OptionSet, entities: Entities) -> None:
    types = entities.types
    twice = [each for number, each in enumerate(types) if each in types[:number]]
    if twice:
        raise OptionError(f"Duplicate entity type(s) specified: {','.join(twice)}")
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        raise OptionError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    for entity_type in types:
        if entity_type not in ENTITY_TYPES:
            raise OptionError(
                f"Invalid entity type {entity_type}, the entity type must be one of {', '.join(ENTITY_TYPES)} with a "
                f"{SERVERS} argument"
            )
    if not types:
        raise OptionError("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise OptionError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")


def _check_names(options: OptionSet, entities: Entities) -> None:
    is_general = any(options.has(f"entity-{word}") for word in ("name", "type", "default"))
    if is_general and any(options.has(flag) for flag in (*NAME_FLAGS, *DEFAULT_FLAGS)):
        raise OptionError(
            "--entity-{type,name,default} should not be used in conjunction with specific entity flags"
        )
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise OptionError("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    if not entities.has_name:
        return
    if BROKERS in entities.types or BROKER_LOGGERS in entities.types:
        for broker_id in _values(options, "entity-name", "broker", "broker-logger"):
            _check_broker_id(broker_id, entities.type)
    if IPS in entities.types:
        for address in _values(options, "entity-name", "ip"):
            _check_address(address, entities.type)


def _values(options: OptionSet, *flags: str) -> list[str]:
    return [options.value(flag) for flag in flags if options.has(flag)]


def _check_broker_id(broker_id: str, entity_type: str) -> None:
    try:
        java_int(broker_id)
    except ValueError:
        raise OptionError(
            f"The entity name for {entity_type} must be a valid integer broker id, but it is: {broker_id}"
        ) from None


def _check_address(address: str, entity_type: str) -> None:
    import socket

    try:
        socket.getaddrinfo(address, None)
    except (OSError, UnicodeError):
        raise OptionError(
            f"The entity name for {entity_type} must be a valid IP or resolvable host, but it is: {address}"
        ) from None


def _check_describe(options: OptionSet, entities: Entities) -> None:
    types = entities.types
    if not any(each in types for each in WITH_DEFAULTS) and options.has("entity-default"):
        raise OptionError(f"--entity-default must not be specified with --describe of {','.join(types)}")
    if BROKER_LOGGERS in types and not entities.has_name:
        raise OptionError(f"An entity name must be specified with --describe of {','.join(types)}")


def _check_alter(options: OptionSet, entities: Entities) -> None:
    if any(each in entities.types for each in WITH_DEFAULTS):
        if not entities.has_name and not entities.has_default:
            raise OptionError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not entities.has_name:
        raise OptionError(f"An entity name must be specified with --alter of {','.join(entities.types)}")
    if options.has("add-config") and options.has("add-config-file"):
        raise OptionError("Only one of --add-config or --add-config-file must be specified")
    if not any(options.has(flag) for flag in ("add-config", "add-config-file", "delete-config")):
        raise OptionError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )
