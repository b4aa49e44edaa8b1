"""Values that stand outside a configuration: `${file:/etc/db.properties:password}`, `${env:DB_PASSWORD}`.

A worker names its providers in `config.providers`, each with a class in `config.providers.<name>.class` and settings in
`config.providers.<name>.param.`. Connectors' configurations keep the variables; what they stand for is looked up when
a connector or a task is started, and never written to Kafka.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from penstock.errors import ConfigError
from penstock.settings.properties import read_properties

VARIABLE = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")


class ConfigProvider(Protocol):
    def get(self, path: str, key: str) -> str | None:
        """None if it has no such value; ConfigError if it cannot be asked for one."""


class FileProvider:
    """`${name:path:key}`: a key of a properties file."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._allowed = _allowed_paths(parameters)

    def get(self, path: str, key: str) -> str | None:
        _require_allowed(path, self._allowed)
        return read_properties(Path(path)).get(key)


class DirectoryProvider:
    """`${name:directory:file}`: the contents of a file."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._allowed = _allowed_paths(parameters)

    def get(self, path: str, key: str) -> str | None:
        _require_allowed(path, self._allowed)
        if "/" in key:
            raise ConfigError(
                f"config providers: got {key!r} as a file of {path}; takes a name without a slash"
            )
        try:
            return (Path(path) / key).read_text()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"Could not read file {path}/{key}: {error.strerror}") from None


class EnvironmentProvider:
    """`${name:VARIABLE}`: a variable of the worker's environment, if its name matches `allowlist.pattern`."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._pattern = re.compile(parameters.get("allowlist.pattern", ".*"))

    def get(self, path: str, key: str) -> str | None:
        if path:
            raise ConfigError(f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'")
        return os.environ.get(key) if self._pattern.fullmatch(key) else None


def _allowed_paths(parameters: Mapping[str, str]) -> list[Path]:
    given = parameters.get("allowed.paths", "")
    return [Path(path.strip()).resolve() for path in given.split(",") if path.strip()]


def _require_allowed(path: str, allowed: Iterable[Path]) -> None:
    found = Path(path).resolve()
    allowed = list(allowed)
    if allowed and not any(found.is_relative_to(each) for each in allowed):
        raise ConfigError(f"config providers: the path {path} is not within allowed.paths")


_PROVIDERS: dict[str, Callable[[Mapping[str, str]], ConfigProvider]] = {
    "FileConfigProvider": FileProvider,
    "DirectoryConfigProvider": DirectoryProvider,
    "EnvVarConfigProvider": EnvironmentProvider,
}
_JAVA_PACKAGE = "org.apache.kafka.common.config.provider."


class ConfigVariables:
    """`resolve` puts in what the variables of a configuration stand for."""

    def __init__(self, worker_configs: Mapping[str, str]) -> None:
        names = [name.strip() for name in worker_configs.get("config.providers", "").split(",")]
        self._providers = {name: _provider(name, worker_configs) for name in names if name}

    def resolve(self, configs: Mapping[str, str]) -> dict[str, str]:
        """ConfigError if a provider has no such value; a variable of no known provider stays as it is."""
        return {key: self._resolve_value(key, value) for key, value in configs.items()}

    def _resolve_value(self, config: str, value: str) -> str:
        def replace(found: re.Match[str]) -> str:
            provider = self._providers.get(found[1])
            if provider is None:
                return found[0]
            if (looked_up := provider.get(found[3] or "", found[4])) is None:
                raise ConfigError(f"{config}: the config provider {found[1]!r} has nothing for {found[0]}")
            return looked_up

        return VARIABLE.sub(replace, value) if self._providers and "${" in value else value

    @staticmethod
    def hide_all(
        configs: Sequence[Mapping[str, str]], raw: Mapping[str, str], resolved: Mapping[str, str]
    ) -> list[dict[str, str]]:
        """As they may be stored: values that a connector passed on to its tasks get their variables back."""
        hidden = {(key, resolved[key]): value for key, value in raw.items() if resolved.get(key) != value}
        return [{key: hidden.get((key, value), value) for key, value in each.items()} for each in configs]


def _provider(name: str, worker_configs: Mapping[str, str]) -> ConfigProvider:
    key = f"config.providers.{name}.class"
    class_name = worker_configs.get(key, "")
    make = _PROVIDERS.get(class_name.removeprefix(_JAVA_PACKAGE))
    if make is None:
        known = ", ".join(f"{_JAVA_PACKAGE}{each}" for each in _PROVIDERS)
        raise ConfigError(f"{key}: got {class_name!r}; takes one of {known}")
    prefix = f"config.providers.{name}.param."
    given = {
        each.removeprefix(prefix): value for each, value in worker_configs.items() if each.startswith(prefix)
    }
    return make(given)
