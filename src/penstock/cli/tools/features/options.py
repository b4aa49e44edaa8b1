"""The options of kafka-features."""

from __future__ import annotations

from penstock.cli.options.argparse4j import ArgumentParser, Subparsers
from penstock.cli.tools.features.versions import LATEST_PRODUCTION, METADATA_VERSIONS

TOOL = "kafka-features"


def features_parser() -> ArgumentParser:
    parser = ArgumentParser(TOOL, default_help=True, description="This tool manages feature flags in Kafka.")
    servers = parser.add_mutually_exclusive_group()
    pairs = "A comma-separated list of host:port pairs to use for establishing the connection to the"
    servers.add_argument("--bootstrap-server", help=f"{pairs} Kafka cluster.")
    servers.add_argument("--bootstrap-controller", help=f"{pairs} KRaft quorum.")
    parser.add_argument(
        "--command-config", help="Property file containing configs to be passed to Admin Client."
    )
    commands = parser.add_subparsers(dest="command")
    _add_switching(commands)
    _add_looking_up(commands)
    return parser


def _add_switching(commands: Subparsers) -> None:
    _add_describe(commands.add_parser("describe", help="Describes the current active feature flags."))
    upgrade = commands.add_parser("upgrade", help="Upgrade one or more feature flags.")
    _add_levels(upgrade, "upgrade", "update", "3.3-IV3")
    _add_dry_run(upgrade, "Validate this upgrade, but do not perform it.")
    downgrade = commands.add_parser("downgrade", help="Downgrade one or more feature flags.")
    _add_levels(downgrade, "downgrade", "downgrade", "3.3-IV0")
    _add_unsafe(downgrade, "Perform this downgrade even if it may irreversibly destroy metadata.")
    _add_dry_run(downgrade, "Validate this downgrade, but do not perform it.")
    disable = commands.add_parser(
        "disable",
        help="Disable one or more feature flags. This is the same as downgrading the version to zero.",
    )
    disable.add_argument("--feature", action="append", help="A feature flag to disable.")
    _add_unsafe(disable, "Disable this feature flag even if it may irreversibly destroy metadata.")
    _add_dry_run(disable, "Perform a dry-run of this disable operation.")


def _add_looking_up(commands: Subparsers) -> None:
    _add_version_mapping(
        commands.add_parser(
            "version-mapping",
            help="Look up the corresponding features for a given metadata version. Using the command with no "
            "--release-version  argument will return the mapping for the latest stable metadata version",
        )
    )
    dependencies = commands.add_parser(
        "feature-dependencies",
        help="Look up dependencies for a given feature version. If the feature is not known or the version not yet "
        "defined, an error is thrown. Multiple features can be specified.",
    )
    dependencies.add_argument(
        "--feature",
        action="append",
        required=True,
        help="The feature and version to look up dependencies for, in feature=version format. "
        "For example: `metadata.version=5`.",
    )


def _add_describe(command: ArgumentParser) -> None:
    command.add_argument(
        "--node-id",
        type=int,
        help="The node id to which the requests should be sent. If not specified, the requests will be sent to an "
        "arbitrary controller/broker.",
    )


def _add_levels(command: ArgumentParser, verb: str, release_verb: str, example: str) -> None:
    command.add_argument(
        "--metadata",
        help=f"DEPRECATED -- The level to which we should {verb} the metadata. For example, {example}.",
    )
    command.add_argument(
        "--release-version",
        help=f"The release version to {release_verb} all features to. For example, 3.9-IV0 will set "
        "metadata.version=21 and kraft.version=1. Use the version-mapping command to learn which features will be "
        "set for any given version.",
    )
    command.add_argument(
        "--feature",
        action="append",
        help=f"A feature {verb} we should perform, in feature=level format. For example: `metadata.version=5`.",
    )


def _add_unsafe(command: ArgumentParser, help: str) -> None:
    command.add_argument("--unsafe", action="store_true", help=help)


def _add_dry_run(command: ArgumentParser, help: str) -> None:
    command.add_argument("--dry-run", action="store_true", help=help)


def _add_version_mapping(command: ArgumentParser) -> None:
    command.add_argument(
        "--release-version",
        help="The release version to use for the corresponding feature mapping. The minimum is "
        f"{METADATA_VERSIONS[0]}; the default is {LATEST_PRODUCTION}",
    )
