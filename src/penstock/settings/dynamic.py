"""Which of a broker's settings can change while it runs, for one broker or for all: as Kafka decides."""

from collections.abc import Mapping

from penstock.errors import ConfigError
from penstock.settings.broker import ALL_BROKER_SETTINGS
from penstock.settings.table import Scope


def check_dynamic_broker_configs(configs: Mapping[str, str], *, per_broker: bool) -> None:
    """Refuses what can't be set dynamically; `per_broker` is False for the default of all brokers."""
    _refuse_names(
        [name for name in configs if not is_dynamic(name)], "Cannot update these configs dynamically"
    )
    if not per_broker:
        _refuse_names(
            [name for name in configs if ALL_BROKER_SETTINGS[name].scope is Scope.PER_BROKER],
            "Cannot update these configs at default cluster level, broker id must be specified",
        )
    for name, text in configs.items():
        ALL_BROKER_SETTINGS[name].parse(text)


def is_dynamic(name: str) -> bool:
    setting = ALL_BROKER_SETTINGS.get(name)
    return setting is not None and setting.scope is not Scope.READ_ONLY


def _refuse_names(names: list[str], why: str) -> None:
    if names:
        raise ConfigError(f"{why}: {', '.join(sorted(names))}")
