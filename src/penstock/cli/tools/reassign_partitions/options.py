"""The options of kafka-reassign-partitions, and which of them go together."""

from __future__ import annotations

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
    print_usage_and_exit,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import LONG

ABOUT = "This tool helps to move topic partitions between replicas."
ACTIONS = ("generate", "execute", "verify", "cancel", "list")
REQUIRED = {
    "generate": ("topics-to-move-json-file", "broker-list"),
    "execute": ("reassignment-json-file",),
    "verify": ("reassignment-json-file",),
    "cancel": ("reassignment-json-file",),
    "list": (),
}
PERMITTED = {
    "generate": ("bootstrap-server", "command-config", "disable-rack-aware"),
    "execute": (
        *("additional", "bootstrap-server", "command-config", "throttle", "replica-alter-log-dirs-throttle"),
        *("timeout", "disallow-replication-factor-change"),
    ),
    "verify": ("bootstrap-server", "command-config", "preserve-throttles"),
    "cancel": ("bootstrap-server", "bootstrap-controller", "command-config", "preserve-throttles", "timeout"),
    "list": ("bootstrap-server", "bootstrap-controller", "command-config"),
}
NO_THROTTLE = -1
DEFAULT_TIMEOUT_MS = 10_000


def reassign_parser() -> OptionParser:
    parser = command_parser()
    _accept_actions(parser)
    _accept_connection(parser)
    _accept_plans(parser)
    _accept_manners(parser)
    return parser


def _accept_actions(parser: OptionParser) -> None:
    parser.accepts(
        "verify",
        "Verify if the reassignment completed as specified by the --reassignment-json-file option. If there is a "
        "throttle engaged for the replicas specified, and the rebalance has completed, the throttle will be removed",
    )
    parser.accepts(
        "generate",
        "Generate a candidate partition reassignment configuration. Note that this only generates a candidate "
        "assignment, it does not execute it.",
    )
    parser.accepts(
        "execute", "Kick off the reassignment as specified by the --reassignment-json-file option."
    )
    parser.accepts("cancel", "Cancel an active reassignment.")
    parser.accepts("list", "List all active partition reassignments.")


def _accept_connection(parser: OptionParser) -> None:
    parser.accepts(
        "bootstrap-server",
        "the server(s) to use for bootstrapping.",
        argument="Server(s) to use for bootstrapping",
        optional_argument=True,
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="Admin client property file",
    )


def _accept_plans(parser: OptionParser) -> None:
    parser.accepts(
        "reassignment-json-file",
        "The JSON file with the partition reassignment configurationThe format to use is - \n"
        '{"partitions":\n\t[{"topic": "foo",\n\t  "partition": 1,\n\t  "replicas": [1,2,3],\n'
        '\t  "log_dirs": ["dir1","dir2","dir3"] }],\n"version":1\n}\n'
        'Note that "log_dirs" is optional. When it is specified, its length must equal the length of the replicas '
        'list. The value in this list can be either "any" or the absolution path of the log directory on the broker. '
        "If absolute log directory path is specified, the replica will be moved to the specified log directory on the "
        "broker.",
        argument="manual assignment json file path",
    )
    parser.accepts(
        "topics-to-move-json-file",
        "Generate a reassignment configuration to move the partitions of the specified topics to the list of brokers "
        "specified by the --broker-list option. The format to use is - \n"
        '{"topics":\n\t[{"topic": "foo"},{"topic": "foo1"}],\n"version":1\n}',
        argument="topics to reassign json file path",
    )
    parser.accepts(
        "broker-list",
        'The list of brokers to which the partitions need to be reassigned in the form "0,1,2". This is required if '
        "--topics-to-move-json-file is used to generate reassignment configuration",
        argument="brokerlist",
    )
    parser.accepts(
        "bootstrap-controller",
        "The controller to use for reassignment. By default, the tool will get the quorum controller. This option "
        "supports the actions --cancel and --list.",
        argument="bootstrap controller to connect to",
        optional_argument=True,
    )


def _accept_manners(parser: OptionParser) -> None:
    parser.accepts("disable-rack-aware", "Disable rack aware replica assignment")
    how_to_change = (
        "will be throttled to this value (bytes/sec). This option can be included with --execute when a reassignment "
        "is started, and it can be altered by resubmitting the current reassignment along with the --additional flag. "
        "The throttle rate should be at least 1 KB/s."
    )
    parser.accepts(
        "throttle",
        f"The movement of partitions between brokers {how_to_change}",
        argument="throttle",
        kind=LONG,
        default=NO_THROTTLE,
    )
    parser.accepts(
        "replica-alter-log-dirs-throttle",
        f"The movement of replicas between log directories on the same broker {how_to_change}",
        argument="replicaAlterLogDirsThrottle",
        kind=LONG,
        default=NO_THROTTLE,
    )
    parser.accepts(
        "timeout",
        "The maximum time in ms to wait for log directory replica assignment to begin.",
        argument="timeout",
        kind=LONG,
        default=DEFAULT_TIMEOUT_MS,
    )
    parser.accepts(
        "additional",
        "Execute this reassignment in addition to any other ongoing ones. This option can also be used to change the "
        "throttle of an ongoing reassignment.",
    )
    parser.accepts("preserve-throttles", "Do not modify broker or topic throttles.")
    parser.accepts(
        "disallow-replication-factor-change",
        "Denies the ability to change a partition's replication factor as part of this reassignment through adding "
        "validation against it.",
    )


# --- which go together


def checked_action(parser: OptionParser, options: OptionSet, words: list[str]) -> str:
    """The one action that is asked for, with all that it needs and nothing that it does not take."""
    maybe_print_help_or_version(parser, options, words, ABOUT)
    asked = [action for action in ACTIONS if options.has(action)]
    if len(asked) != 1:
        listed = ", ".join(f"--{action}" for action in ACTIONS)
        print_usage_and_exit(parser, f"Command must include exactly one action: {listed}")
    action = asked[0]
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        print_usage_and_exit(
            parser, "Please don't specify both --bootstrap-server and --bootstrap-controller"
        )
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        print_usage_and_exit(parser, "Please specify either --bootstrap-server or --bootstrap-controller")
    check_required_args(parser, options, *REQUIRED[action])
    _check_permitted(parser, options, action)
    return action


def _check_permitted(parser: OptionParser, options: OptionSet, action: str) -> None:
    taken = {action, *REQUIRED[action], *PERMITTED[action]}
    for option in options.in_order:
        if not taken & set(option.names):
            print_usage_and_exit(parser, f'Option "{option}" can\'t be used with action "[{action}]"')
