"""Golden scripts: a scenario as a transcript that reads like a story and is checked line by line.

A script is a text file. Lines that begin with `> ` are commands; what follows a command, up to the next empty line or
command, is what the machine did in answer: the records it wrote, the timers it set, the replies it gave. Lines that
begin with `#`, and everything before the first command, are prose. Fields with their default value are not shown.

    Alone in a group.

    > join alice
    alice <- JoinGroupResponse error_code=MEMBER_ID_REQUIRED member_id=id-1

The first word of a command is a method of the script's `Words` (`join` -> `do_join`), the rest its arguments:
plain words by position, `key=value` by name, all strings. Which words a script knows is told by the first part of its
file name: `classic_static_members.txt` is run with `tests/scripts/words/classic.py`.

With `PENSTOCK_UPDATE_SCRIPTS=1` the scripts are rewritten with what happens now; read the difference before you
commit it.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.machine import Machine, Producer, TimerKey
from penstock.wire.schema import Field, Message, StoredMessage
from tests.scripts.world import Asked, Observer, World

COMMAND = "> "


class Words(Observer):
    """What every script can say; a subject's own words derive from it and set `world` in `__init__`."""

    world: World[Any]

    def __init__(self) -> None:
        self.said: list[str] = []
        self.show_timers = True

    def machine(self) -> Machine:
        machine: Machine = self.world.machine
        return machine

    # commands

    def do_advance(self, duration_ms: str) -> None:
        self.world.advance(int(duration_ms))

    def do_reload(self) -> None:
        self.world.reload()

    def do_topic(self, name: str, partitions: str) -> None:
        self.world.put_topic(name, int(partitions))

    def do_delete_topic(self, name: str) -> None:
        self.world.remove_topic(name)

    def do_timers(self, on_or_off: str) -> None:
        """Whether timers are shown from here on."""
        self.show_timers = on_or_off == "on"

    # what happened

    def say(self, line: str) -> None:
        self.said.append(line)

    def on_write(self, key: StoredMessage, value: StoredMessage | None, producer: Producer | None) -> None:
        name = type(key).__name__.removesuffix("Key")
        where = "/".join(self.show(field, getattr(key, field.name)) for field in key.SCHEMA)
        what = "removed" if value is None else self.show_fields(value)
        suffix = (
            f" in the transaction of {producer.producer_id}/{producer.producer_epoch}" if producer else ""
        )
        self.say(f"write {name} {where}: {what}{suffix}")

    def on_timer_set(self, key: TimerKey, delay_ms: int | None) -> None:
        if self.show_timers:
            self.say(f"timer {self.show_key(key)} " + ("off" if delay_ms is None else f"in {delay_ms} ms"))

    def on_timer_due(self, key: TimerKey) -> None:
        self.say(f"due {self.show_key(key)}")

    def on_answer(self, asked: Asked) -> None:
        answer = asked.answer
        if isinstance(answer, ApiError):
            self.say(f"{asked.label} <- refused: {answer.code.name}")
        elif isinstance(answer, Message):
            self.say(f"{asked.label} <- {type(answer).__name__} {self.show_fields(answer)}".rstrip())
        else:
            self.say(f"{asked.label} <- {answer}")

    def on_effect(self, effect: Any) -> None:
        self.say(f"effect {effect}")

    # rendering

    @staticmethod
    def show_key(key: TimerKey) -> str:
        return "/".join(str(part) for part in key)

    def show_fields(self, message: Message) -> str:
        shown = (
            f"{field.name}={self.show(field, getattr(message, field.name))}"
            for field in message.SCHEMA
            if not _is_default(field, getattr(message, field.name))
        )
        return " ".join(shown)

    def show(self, field: Field, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.show(field, one) for one in value) + "]"
        if isinstance(value, Message):
            return "{" + self.show_fields(value) + "}"
        if field.name == "error_code":
            return ErrorCode(value).name
        if field.element_kind == "uuid":
            return str(self.world.image.topic_names.get(value, value.hex()[-4:]))
        if isinstance(value, (bytes, memoryview)):
            return _show_bytes(bytes(value))
        return str(value)


def _is_default(field: Field, value: Any) -> bool:
    if isinstance(value, (list, tuple)) and not value:
        return not field.default
    return bool(value == field.default)


def _show_bytes(value: bytes) -> str:
    text = value.decode("ascii", "replace")
    return text if text.isprintable() else value.hex()


def run_script(text: str, words: Words) -> str:
    """The script with what happens now after each command."""
    lines: list[str] = []
    in_answer = False
    for line in text.splitlines():
        if line.startswith(COMMAND):
            lines += [line, *run_command(line.removeprefix(COMMAND), words)]
            in_answer = True
        elif not line.strip() or line.startswith("#"):
            lines.append(line)
            in_answer = False
        elif not in_answer:
            lines.append(line)
    return "\n".join(lines) + "\n"


def run_command(command: str, words: Words) -> Sequence[str]:
    name, *rest = shlex.split(command)
    by_position = [word for word in rest if "=" not in word]
    by_name = dict(word.split("=", 1) for word in rest if "=" in word)
    words.said = []
    getattr(words, "do_" + name.replace("-", "_"))(*by_position, **by_name)
    return words.said


def check_script(path: Path, words: Words, *, update: bool) -> None:
    text = path.read_text()
    happened = run_script(text, words)
    if update:
        path.write_text(happened)
    assert happened.splitlines() == text.splitlines()
