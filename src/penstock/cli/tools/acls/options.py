"""The options of kafka-acls, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_invalid_args,
    command_parser,
    parse_or_print_usage,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import one_of
from penstock.client.admin.acls import AclOperation, PatternType

PATTERN_TYPES = tuple(each.name for each in PatternType if each is not PatternType.UNKNOWN)
OPERATIONS = tuple(each for each in AclOperation if each not in (AclOperation.UNKNOWN, AclOperation.ANY))
SERVERS_HELP = (
    "A list of host/port pairs to use for establishing the connection to the Kafka cluster. This list should be in the "
    "form host1:port1,host2:port2,... This config is required for acl management using admin client API."
)


def operation_name(operation: AclOperation) -> str:
    """`DescribeConfigs`, as it is written on a command line."""
    return "".join(word.capitalize() for word in operation.name.split("_"))


def parse_options(words: list[str]) -> tuple[OptionParser, OptionSet]:
    parser = _parser()
    options = parse_or_print_usage(parser, words, "This tool helps to manage acls on kafka.")
    _check(parser, options)
    return parser, options


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts("bootstrap-server", SERVERS_HELP, argument="server to connect to")
    parser.accepts("bootstrap-controller", SERVERS_HELP, argument="controller to connect to")
    parser.accepts(
        "command-config",
        "A property file containing configs to be passed to Admin Client.",
        argument="command-config",
        optional_argument=True,
    )
    _add_actions(parser)
    _add_resources(parser)
    _add_pattern_type(parser)
    _add_entries(parser)
    _add_conveniences(parser)
    return parser


def _add_actions(parser: OptionParser) -> None:
    parser.accepts("add", "Indicates you are trying to add ACLs.")
    parser.accepts("remove", "Indicates you are trying to remove ACLs.")
    parser.accepts(
        "list",
        "List ACLs for the specified resource, use --topic <topic> or --group <group> or --cluster to specify a "
        "resource.",
    )
    parser.accepts(
        "principal",
        "List ACLs for the specified principal. principal is in principalType:name format. Note that principalType "
        "must be supported by the Authorizer being used. Multiple --principal option can be passed.",
        argument="principal",
        optional_argument=True,
    )
    parser.accepts("force", "Assume Yes to all queries and do not prompt.")


def _add_resources(parser: OptionParser) -> None:
    parser.accepts(
        "topic",
        "topic to which ACLs should be added or removed. A value of '*' indicates ACL should apply to all topics.",
        argument="topic",
    )
    parser.accepts("cluster", "Add/Remove cluster ACLs.")
    parser.accepts(
        "group",
        "Consumer Group to which the ACLs should be added or removed. A value of '*' indicates the ACLs should apply "
        "to all groups.",
        argument="group",
    )
    parser.accepts(
        "transactional-id",
        "The transactionalId to which ACLs should be added or removed. A value of '*' indicates the ACLs should apply "
        "to all transactionalIds.",
        argument="transactional-id",
    )
    parser.accepts(
        "delegation-token",
        "Delegation token to which ACLs should be added or removed. A value of '*' indicates ACL should apply to all "
        "tokens.",
        argument="delegation-token",
    )
    parser.accepts(
        "user-principal",
        "Specifies a user principal as a resource in relation with the operation. For instance one could grant "
        "CreateTokens or DescribeTokens permission on a given user principal.",
        argument="user-principal",
    )


def _add_pattern_type(parser: OptionParser) -> None:
    parser.accepts(
        "resource-pattern-type",
        "The type of the resource pattern or pattern filter. When adding acls, this should be a specific pattern type, "
        "e.g. 'literal' or 'prefixed'. When listing or removing acls, a specific pattern type can be used to list or "
        "remove acls from specific resource patterns, or use the filter values of 'any' or 'match', where 'any' will "
        "match any pattern type, but will match the resource name exactly, where as 'match' will perform pattern "
        "matching to list or remove all acls that affect the supplied resource(s). WARNING: 'match', when used in "
        "combination with the '--remove' switch, should be used with care.",
        argument="",
        kind=one_of(PATTERN_TYPES, "|".join(PATTERN_TYPES)),
        default="LITERAL",
    )


def _add_entries(parser: OptionParser) -> None:
    names = "\n".join(f"\t{operation_name(operation)}" for operation in OPERATIONS)
    parser.accepts(
        "operation",
        f"Operation that is being allowed or denied. Valid operation names are: \n{names}\n",
        argument="",
        default=operation_name(AclOperation.ALL),
    )
    parser.accepts(
        "allow-principal",
        "principal is in principalType:name format. Note that principalType must be supported by the Authorizer being "
        "used. For example, User:'*' is the wild card indicating all users.",
        argument="allow-principal",
    )
    parser.accepts(
        "deny-principal",
        "principal is in principalType:name format. By default anyone not added through --allow-principal is denied "
        "access. You only need to use this option as negation to already allowed set. Note that principalType must be "
        "supported by the Authorizer being used. For example if you wanted to allow access to all users in the system "
        "but not test-user you can define an ACL that allows access to User:'*' and specify "
        "--deny-principal=User:test@EXAMPLE.COM. AND PLEASE REMEMBER DENY RULES TAKES PRECEDENCE OVER ALLOW RULES.",
        argument="deny-principal",
    )
    parser.accepts(
        "allow-host",
        "Host from which principals listed in --allow-principal will have access. If you have specified "
        "--allow-principal then the default for this option will be set to '*' which allows access from all hosts.",
        argument="allow-host",
    )
    parser.accepts(
        "deny-host",
        "Host from which principals listed in --deny-principal will be denied access. If you have specified "
        "--deny-principal then the default for this option will be set to '*' which denies access from all hosts.",
        argument="deny-host",
    )


def _add_conveniences(parser: OptionParser) -> None:
    parser.accepts(
        "producer",
        "Convenience option to add/remove ACLs for producer role. This will generate ACLs that allows WRITE,DESCRIBE "
        "and CREATE on topic.",
    )
    parser.accepts(
        "consumer",
        "Convenience option to add/remove ACLs for consumer role. This will generate ACLs that allows READ,DESCRIBE on "
        "topic and READ on group.",
    )
    parser.accepts(
        "idempotent",
        "Enable idempotence for the producer. This should be used in combination with the --producer option. Note that "
        "idempotence is enabled automatically if the producer is authorized to a particular transactional-id.",
    )


def _check(parser: OptionParser, options: OptionSet) -> None:
    servers = sum(options.has(server) for server in ("bootstrap-server", "bootstrap-controller"))
    if servers != 1:
        how_many = "Only one" if servers else "One"
        print_usage_and_exit(
            parser, f"{how_many} of --bootstrap-server or --bootstrap-controller must be specified"
        )
    if sum(options.has(action) for action in ("add", "remove", "list")) != 1:
        print_usage_and_exit(parser, "Command must include exactly one action: --list, --add, --remove. ")
    unlisted = ("producer", "consumer", "allow-host", "allow-principal", "deny-host", "deny-principal")
    check_invalid_args(parser, options, "list", *unlisted)
    for role in ("producer", "consumer"):
        check_invalid_args(parser, options, role, "operation", "deny-principal", "deny-host")
    if options.has("principal") and not options.has("list"):
        print_usage_and_exit(parser, "The --principal option is only available if --list is set")
    if options.has("producer") and not options.has("topic"):
        print_usage_and_exit(parser, "With --producer you must specify a --topic")
    if options.has("idempotent") and not options.has("producer"):
        print_usage_and_exit(parser, "The --idempotent option is only available if --producer is set")
    if options.has("consumer") and not _is_complete_consumer(options):
        print_usage_and_exit(
            parser,
            "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option "
            "should be specified.",
        )


def _is_complete_consumer(options: OptionSet) -> bool:
    has_more = options.has("cluster") or options.has("transactional-id")
    return options.has("topic") and options.has("group") and (options.has("producer") or not has_more)
