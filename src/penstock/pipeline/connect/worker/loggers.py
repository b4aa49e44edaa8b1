"""Log levels of this process, in Connect's words: log4j's levels on Python's loggers."""

from __future__ import annotations

import logging
import time

from penstock.pipeline.connect.errors import NotFoundError
from penstock.pipeline.connect.worker.interface import LoggerLevel

ROOT = "root"
LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
    "ALL": 1,
}
_NAMES = {number: name for name, number in LEVELS.items()}


class Loggers:
    def __init__(self) -> None:
        self._modified_at: dict[str, int] = {}

    def levels(self) -> dict[str, LoggerLevel]:
        """Of all that have one of their own, and of the root."""
        own = [name for name in logging.root.manager.loggerDict if _existing(name) and _existing(name).level]
        return {name: self._level(name) for name in sorted([ROOT, *own])}

    def level(self, name: str) -> LoggerLevel:
        if name != ROOT and name not in logging.root.manager.loggerDict:
            raise NotFoundError(f"Logger {name} not found.")
        return self._level(name)

    def set_level(self, namespace: str, level: str) -> list[str]:
        """The names of the changed loggers: the namespace, and what is below it."""
        below = [
            name
            for name in logging.root.manager.loggerDict
            if namespace == ROOT or name.startswith(f"{namespace}.")
        ]
        names = sorted({namespace, *below})
        for name in names:
            _existing(name).setLevel(LEVELS[level.upper()])
            self._modified_at[name] = time.time_ns() // 1_000_000
        return names

    def _level(self, name: str) -> LoggerLevel:
        number = _existing(name).getEffectiveLevel()
        return {
            "level": _NAMES.get(number, logging.getLevelName(number)),
            "last_modified": self._modified_at.get(name),
        }


def _existing(name: str) -> logging.Logger:
    return logging.root if name == ROOT else logging.getLogger(name)
