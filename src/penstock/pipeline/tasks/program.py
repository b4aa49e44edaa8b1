"""A program: a topology with a name and settings, in a Python file that every process which runs it reads for itself.

Functions of a topology do not travel: what does is the file's text. Each process executes it once, in a module of its
own, and takes the one `Program` that it finds there at the top level.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from penstock.errors import ConfigError
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.topology import Topology

MODULE_PREFIX = "penstock_program_"


@dataclass(frozen=True)
class Program:
    """What a file of a program has at its top level, once. Settings are those of Kafka Streams; see the guide.

    >>> from penstock.streams import Program, StreamsBuilder
    >>> builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    >>> builder.stream("lines").map_values(str.upper).to("shouted")
    >>> program = Program("shouting", builder.build(), {"bootstrap.servers": "localhost:9092"})
    >>> program.application_id
    'shouting'
    """

    application_id: str
    topology: Topology
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProgramFile:
    """Where it is from, and what is in it: the path is for messages, and for what stands beside it to be imported."""

    path: str
    text: str

    @classmethod
    def read(cls, path: Path) -> ProgramFile:
        try:
            return cls(str(path.absolute()), path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeError) as error:
            raise ConfigError(f"{path}: can't be read: {error}") from None

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.path}\n{self.text}".encode()).hexdigest()[:16]

    def load(self) -> Program:
        """The program in it; what is wrong with it is told with the place in the file."""
        return _load(self)


@lru_cache(maxsize=8)
def _load(file: ProgramFile) -> Program:
    module = ModuleType(MODULE_PREFIX + file.digest)
    module.__file__ = file.path
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    folder = str(Path(file.path).parent)
    if folder not in sys.path and Path(folder).is_dir():
        sys.path.append(folder)
    try:
        exec(compile(file.text, file.path, "exec", dont_inherit=True), module.__dict__)
    except TopologyError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{file.path}{_line_of(error, file.path)}: {type(error).__name__}: {error}"
        ) from error
    found = {id(each): each for each in vars(module).values() if isinstance(each, Program)}
    if len(found) != 1:
        got = "no Program" if not found else f"{len(found)} of them"
        raise ConfigError(
            f"{file.path}: got {got} at the top level; takes one: program = Program(name, topology)"
        )
    return next(iter(found.values()))


def _line_of(error: BaseException, path: str) -> str:
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno:
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f":{lines[-1]}" if lines else ""
