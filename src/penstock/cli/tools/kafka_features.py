"""kafka-features: shows the features of a cluster, and switches them up, down and off."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from penstock.cli.options.argparse4j import ArgumentParserError, HelpShown, Namespace
from penstock.cli.options.command_line import load_properties
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.features.options import TOOL, features_parser
from penstock.cli.tools.features.versions import (
    FEATURES,
    LATEST_PRODUCTION,
    METADATA_VERSION,
    level_of,
    parse_version,
    version_of,
)
from penstock.client.admin.cluster_nodes import learn_controllers
from penstock.client.admin.features import FeatureUpdate, UpgradeType, describe_features, update_features
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

SHORT_LIMIT = 2**15


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, features, arguments)


def features(words: list[str]) -> int:
    try:
        _run(features_parser().parse_args(words))
    except HelpShown:
        return 0
    except ArgumentParserError as error:
        sys.stderr.write(f"Command line error: {error}. Type --help for help.")
        return 1
    return 0


def _run(given: Namespace) -> None:
    if given["command"] in OFFLINE_COMMANDS:
        OFFLINE_COMMANDS[given["command"]](given)
        return
    configs = load_properties(given["command_config"]) if given["command_config"] else {}
    servers = given["bootstrap_server"] or given["bootstrap_controller"]
    if servers is None:
        message = "You must specify either --bootstrap-controller or --bootstrap-server."
        raise ArgumentParserError(message, features_parser())
    configs["bootstrap.servers"] = servers
    with failing(as_java_says), admin_client(configs) as cluster:
        if given["bootstrap_controller"] is not None:
            now(learn_controllers(cluster))
        COMMANDS[given["command"]](cluster, given)


# --- what is switched on


def _describe(cluster: Cluster, given: Namespace) -> None:
    node_id = given["node_id"]
    if node_id is not None and node_id < 0:
        raise CommandFailure(f"Invalid node id {node_id}: must be non-negative.")
    described = now(describe_features(cluster, node_id=node_id))
    for name, levels in sorted(described.levels.items()):
        print(
            f"Feature: {name:<40}  SupportedMinVersion: {_shown(name, levels.min_version):<15}  "
            f"SupportedMaxVersion: {_shown(name, levels.max_version):<15}  "
            f"FinalizedVersionLevel: {_shown(name, levels.finalized_level):<15}  "
            f"Epoch: {'-' if described.epoch is None else described.epoch}"
        )


def _shown(feature: str, level: int) -> str:
    if feature != METADATA_VERSION:
        return str(level)
    return version_of(level) or f"UNKNOWN {level}"


# --- switching


def _upgrade(cluster: Cluster, given: Namespace) -> None:
    _update(cluster, given, "upgrade", _wanted(given, UpgradeType.UPGRADE))


def _downgrade(cluster: Cluster, given: Namespace) -> None:
    _update(cluster, given, "downgrade", _wanted(given, _downgrade_type(given)))


def _disable(cluster: Cluster, given: Namespace) -> None:
    updates: dict[str, FeatureUpdate] = {}
    for name in given["feature"] or ():
        _put(updates, name, FeatureUpdate(0, _downgrade_type(given)))
    _update(cluster, given, "disable", updates)


def _downgrade_type(given: Namespace) -> UpgradeType:
    return UpgradeType.UNSAFE_DOWNGRADE if given["unsafe"] else UpgradeType.SAFE_DOWNGRADE


def _wanted(given: Namespace, upgrade_type: UpgradeType) -> dict[str, FeatureUpdate]:
    metadata, names, release = given["metadata"], given["feature"], given["release_version"]
    if release is not None and (metadata is not None or names is not None):
        raise CommandFailure("Can not specify `release-version` with other feature flags.")
    if release is not None:
        return _of_release(_known_version(release), upgrade_type)
    updates: dict[str, FeatureUpdate] = {}
    if metadata is not None:
        print(" `metadata` flag is deprecated and may be removed in a future release.")
        updates[METADATA_VERSION] = FeatureUpdate(level_of(_known_version(metadata)), upgrade_type)
    for text in names or ():
        name, level = _name_and_level(text)
        _put(updates, name, _checked(level, upgrade_type))
    return updates


def _known_version(text: str) -> str:
    try:
        return parse_version(text)
    except ValueError as error:
        raise CommandFailure(str(error)) from None


def _of_release(version: str, upgrade_type: UpgradeType) -> dict[str, FeatureUpdate]:
    """Metadata and all features, but nothing is upgraded to 0."""
    level = level_of(version)
    levels = {METADATA_VERSION: level} | {each.name: each.default_level(level) for each in FEATURES}
    return {
        name: FeatureUpdate(wanted, upgrade_type)
        for name, wanted in levels.items()
        if wanted or upgrade_type is not UpgradeType.UPGRADE
    }


def _put(updates: dict[str, FeatureUpdate], name: str, update: FeatureUpdate) -> None:
    if name in updates:
        raise CommandFailure(f"Feature {name} was specified more than once.")
    updates[name] = update


def _checked(level: int, upgrade_type: UpgradeType) -> FeatureUpdate:
    if level == 0 and upgrade_type is UpgradeType.UPGRADE:
        raise CommandFailure(
            "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided "
            "maxVersionLevel:0 is < 1."
        )
    if level < 0:
        raise CommandFailure("Cannot specify a negative version level.")
    return FeatureUpdate(level, upgrade_type)


def _name_and_level(text: str) -> tuple[str, int]:
    name, equals, level = (part.strip() for part in text.partition("="))
    if not equals:
        raise CommandFailure(f"Can't parse feature=level string {text}: equals sign not found.")
    digits = level[1:] if level[:1] in ("+", "-") else level
    if not digits.isdecimal() or not -SHORT_LIMIT <= int(level) < SHORT_LIMIT:
        raise CommandFailure(f"Can't parse feature=level string {text}: unable to parse {level} as a short.")
    return name, int(level)


def _update(cluster: Cluster, given: Namespace, verb: str, updates: dict[str, FeatureUpdate]) -> None:
    if not updates:
        raise CommandFailure(f"You must specify at least one feature to {verb}")
    if any(not name.strip() for name in updates):
        raise CommandFailure("Provided feature can not be empty.")
    dry_run, failures = given["dry_run"], 0
    errors = _updated(cluster, updates, dry_run)
    for name in sorted(errors):
        level = "" if verb == "disable" else f" to {updates[name].level}"
        if (error := errors[name]) is None:
            print(f"{name} {'can be' if dry_run else 'was'} {verb}d{level}.")
        else:
            print(f"{'Can' if dry_run else 'Could'} not {verb} {name}{level}. {error.message}")
            failures += 1
    if failures:
        raise CommandFailure(f"{failures} out of {len(updates)} operation(s) failed.")


def _updated(
    cluster: Cluster, updates: dict[str, FeatureUpdate], dry_run: bool
) -> Mapping[str, KafkaError | None]:
    """The order matters where the first that fails is told."""
    ordered = {name: updates[name] for name in in_hash_order(updates)}
    try:
        return now(update_features(cluster, ordered, validate_only=dry_run))
    except KafkaError as error:
        return dict.fromkeys(updates, error)


# --- looking things up


def _version_mapping(given: Namespace) -> None:
    release = given["release_version"] or LATEST_PRODUCTION
    level = level_of(_known_version(release))
    print(f"{METADATA_VERSION}={level} ({release})")
    for feature in FEATURES:
        print(f"{feature.name}={feature.default_level(level)}")


def _feature_dependencies(given: Namespace) -> None:
    for text in given["feature"]:
        name, level = _name_and_level(text)
        if name == METADATA_VERSION:
            if (version := version_of(level)) is None:
                raise CommandFailure(f"Unknown metadata.version {level}")
            print(f"{name}={level} ({version}) has no dependencies.")
        else:
            _print_dependencies(name, level)


def _print_dependencies(name: str, level: int) -> None:
    feature = next((each for each in FEATURES if each.name == name), None)
    if feature is None:
        raise CommandFailure(f"Unknown feature: {name}")
    if level != 0 and level not in feature.dependencies:
        raise CommandFailure(f"No feature:{name} with feature level {level}")
    needed = feature.dependencies.get(level)
    if not needed:
        print(f"{name}={level} has no dependencies.")
        return
    print(f"{name}={level} requires:")
    for other, other_level in needed.items():
        version = f" ({version_of(other_level)})" if other == METADATA_VERSION else ""
        print(f"    {other}={other_level}{version}")


OFFLINE_COMMANDS: dict[str, Callable[[Namespace], None]] = {
    "version-mapping": _version_mapping,
    "feature-dependencies": _feature_dependencies,
}
COMMANDS: dict[str, Callable[[Cluster, Namespace], None]] = {
    "describe": _describe,
    "upgrade": _upgrade,
    "downgrade": _downgrade,
    "disable": _disable,
}


if __name__ == "__main__":
    raise SystemExit(main())
