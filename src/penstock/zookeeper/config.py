"""The settings of the embedded ZooKeeper, under ZooKeeper's own names."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from penstock.errors import ConfigError
from penstock.settings.table import UnknownName

log = logging.getLogger(__name__)

ALL_FOUR_LETTER_WORDS = frozenset(["*"])
MAX_INT32 = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True)
class ZooKeeperConfig:
    """`data_dir` None keeps everything in memory; `client_port` 0 picks a free port."""

    client_port: int = 2181
    client_port_address: str = "127.0.0.1"
    data_dir: Path | None = None
    data_log_dir: Path | None = None
    tick_time_ms: int = 2000
    min_session_timeout_ms: int = -1
    max_session_timeout_ms: int = -1
    max_client_cnxns: int = 60
    max_cnxns: int = 0
    force_sync: bool = True
    snap_count: int = 100_000
    snap_size_limit_kb: int = 65_536
    jute_max_buffer: int = 0xFFFFF
    max_outstanding_bytes: int = 16 * 1024 * 1024
    container_check_interval_ms: int = 60_000
    sessionless_timeout_ms: int = 10_000
    four_letter_words: frozenset[str] = field(default=ALL_FOUR_LETTER_WORDS)

    def __post_init__(self) -> None:
        if self.smallest_timeout_ms > self.largest_timeout_ms:
            raise ConfigError(
                f"minSessionTimeout: got {self.smallest_timeout_ms}; "
                f"takes at most maxSessionTimeout, which is {self.largest_timeout_ms}"
            )

    @property
    def smallest_timeout_ms(self) -> int:
        return self.min_session_timeout_ms if self.min_session_timeout_ms != -1 else 2 * self.tick_time_ms

    @property
    def largest_timeout_ms(self) -> int:
        return self.max_session_timeout_ms if self.max_session_timeout_ms != -1 else 20 * self.tick_time_ms

    @property
    def expiry_interval_ms(self) -> int:
        """How often sessions are looked over: often enough for the shortest of them."""
        return max(5, min(self.tick_time_ms, self.smallest_timeout_ms) // 4)

    def allows(self, word: str) -> bool:
        return "*" in self.four_letter_words or word in self.four_letter_words


def _integer(smallest: int, largest: int = MAX_INT32, also: int | None = None) -> Callable[[str, str], int]:
    def parse(key: str, text: str) -> int:
        try:
            value = int(text)
            if smallest <= value <= largest or value == also:
                return value
        except ValueError:
            pass
        extra = "" if also is None else f", or {also} for the default"
        raise ConfigError(f"{key}: got {text!r}; takes an integer between {smallest} and {largest}{extra}")

    return parse


def _directory(key: str, text: str) -> Path:
    if not text:
        raise ConfigError(f"{key}: got ''; takes the path of a directory")
    return Path(text).expanduser()


def _address(key: str, text: str) -> str:
    if not text or any(character.isspace() for character in text):
        raise ConfigError(f"{key}: got {text!r}; takes an address to listen on")
    return text


def _yes_no(key: str, text: str) -> bool:
    if text.lower() not in ("yes", "no", "true", "false"):
        raise ConfigError(f"{key}: got {text!r}; takes yes or no")
    return text.lower() in ("yes", "true")


def _words(key: str, text: str) -> frozenset[str]:
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word != "*" and len(word) != 4:
            raise ConfigError(f"{key}: got {word!r}; takes four-letter words separated by commas, or *")
    return words


SETTINGS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "clientPort": ("client_port", _integer(0, 65_535)),
    "clientPortAddress": ("client_port_address", _address),
    "dataDir": ("data_dir", _directory),
    "dataLogDir": ("data_log_dir", _directory),
    "tickTime": ("tick_time_ms", _integer(1)),
    "minSessionTimeout": ("min_session_timeout_ms", _integer(1, also=-1)),
    "maxSessionTimeout": ("max_session_timeout_ms", _integer(1, also=-1)),
    "maxClientCnxns": ("max_client_cnxns", _integer(0)),
    "maxCnxns": ("max_cnxns", _integer(0)),
    "forceSync": ("force_sync", _yes_no),
    "snapCount": ("snap_count", _integer(2)),
    "snapSizeLimitInKb": ("snap_size_limit_kb", _integer(1)),
    "jute.maxbuffer": ("jute_max_buffer", _integer(1024)),
    "4lw.commands.whitelist": ("four_letter_words", _words),
    "znode.container.checkIntervalMs": ("container_check_interval_ms", _integer(1)),
}

WITHOUT_EFFECT = frozenset(
    ["admin.enableServer", "admin.serverPort", "initLimit", "syncLimit", "standaloneEnabled", "preAllocSize"]
)


def _is_without_effect(key: str) -> bool:
    return key in WITHOUT_EFFECT or key.startswith("autopurge.")


def find_unknown(names: Iterable[str]) -> Iterator[UnknownName]:
    for name in names:
        if name not in SETTINGS and not _is_without_effect(name) and not name.startswith("server."):
            yield UnknownName(name, next(iter(get_close_matches(name, SETTINGS, 1)), None))


def config_from_properties(properties: Mapping[str, str]) -> ZooKeeperConfig:
    """Checks settings one by one. Unknown ones are warned of; a bad value raises `ConfigError`."""
    fields: dict[str, Any] = {}
    for key, text in properties.items():
        if key.startswith("server."):
            raise ConfigError(f"{key}: got {text!r}; takes nothing here, as this server is a single node")
        if key in SETTINGS:
            name, parse = SETTINGS[key]
            fields[name] = parse(key, text)
        elif not _is_without_effect(key):
            log.warning("%s is not a setting of this server and has no effect", key)
    return ZooKeeperConfig(**fields)
