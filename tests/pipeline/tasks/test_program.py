"""Files of programs: what is in them, and what is told of those that can't be used."""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.tasks.program import MODULE_PREFIX, Program, ProgramFile
from penstock.streams import TopologyError

GOOD = """\
from penstock.streams import Program, StreamsBuilder
builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
builder.stream("in").to("out")
"""
MODELS = """\
from dataclasses import dataclass
import pydantic
from penstock.streams import Consumed, Produced, Program, StreamsBuilder

class Order(pydantic.BaseModel):
    item: str
    count: int

@dataclass
class Line:
    text: str
    order: Order | None = None

def made():
    @dataclass
    class Inner:
        number: int
    @dataclass
    class Outer:
        inner: Inner
    return Outer

FIELD = made().__annotations__["inner"]
builder = StreamsBuilder(default_key_serde="string")
orders = builder.stream("orders", Consumed(value_serde=Order))
orders.map_values(lambda order: Line(f"{order.count} {order.item}")).to("lines", Produced(value_serde=Line))
program = Program("models", builder.build())
"""


@pytest.fixture(autouse=True)
def own_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(MODULE_PREFIX) or name == "beside_the_program":
            del sys.modules[name]


def file_with(folder: Path, text: str) -> ProgramFile:
    path = folder / "program.py"
    path.write_text(text)
    return ProgramFile.read(path)


def test_the_program_of_a_file_is_made_once(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"{GOOD}program = same = Program('p', builder.build(), {{'tick.ms': '5'}})")
    program = file.load()
    assert (program.application_id, program.configs) == ("p", {"tick.ms": "5"})
    assert pickle.loads(pickle.dumps(file)).load() is program


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD, ": got no Program at the top level; takes one"),
        ("", ": got no Program at the top level"),
        (f"{GOOD}program = Program", ": got no Program at the top level"),
        (
            f"{GOOD}a = Program('a', builder.build())\nb = Program('b', builder.build())",
            ": got 2 of them at the top level",
        ),
        (f"{GOOD}def half(:\n    pass\n", ":4: SyntaxError: invalid syntax"),
        (f"{GOOD}\0", ": "),
        (f"{GOOD}\n\n1 / 0\n", ":6: ZeroDivisionError: division by zero"),
        (f"{GOOD}def fails():\n    return {{}}['x']\nfails()\n", ":5: KeyError: 'x'"),
        (f"import sys\n{GOOD}sys.exit('enough')\n", ":5: SystemExit: enough"),
        (f"{GOOD}import no_such_module_at_all\n", ":4: ModuleNotFoundError: No module named"),
        (f"{GOOD}import json\njson.loads('[')\n", ":5: JSONDecodeError"),
    ],
    ids=[
        *("none", "empty", "not made", "two", "syntax", "null", "raises", "in a function"),
        *("exit", "import", "in a library"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, told: str) -> None:
    file = file_with(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        file.load()
    assert str(refused.value).startswith(f"{tmp_path / 'program.py'}{told}"), refused.value


def test_a_topology_that_is_refused_says_where_itself(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"{GOOD}builder.stream(['in', 'more'])\n")
    with pytest.raises(TopologyError, match=r"^program\.py:4: topic 'in' is read here and at program\.py:3"):
        file.load()


@pytest.mark.parametrize("kind", ["missing", "folder", "bytes"])
def test_a_file_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "program.py"
    if kind == "folder":
        path.mkdir()
    if kind == "bytes":
        path.write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match=r"program\.py: can't be read: "):
        ProgramFile.read(path)


def test_a_byte_order_mark_is_no_part_of_a_program(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_bytes(b"\xef\xbb\xbf" + f"{GOOD}p = Program('p', builder.build())".encode())
    assert ProgramFile.read(path).load().application_id == "p"


def test_classes_of_the_file_are_serdes(tmp_path: Path) -> None:
    file = file_with(tmp_path, MODELS)
    nodes = list(file.load().topology.nodes.values())
    module = sys.modules[MODULE_PREFIX + file.digest]
    order = nodes[0].value_serde.decode("orders", b'{"item": "tea", "count": 2}')  # type: ignore[attr-defined]
    assert order == module.Order(item="tea", count=2)
    line = nodes[-1].value_serde.encode("lines", module.Line("2 tea", order))  # type: ignore[attr-defined]
    assert nodes[-1].value_serde.decode("lines", line) == module.Line("2 tea", order)  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(order)) == order
    assert module.FIELD is not str
    assert not isinstance(module.FIELD, str), "annotations are as the file has them"


def test_a_module_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "beside_the_program.py").write_text(f"{GOOD}def topology(): return builder.build()\n")
    text = "from beside_the_program import Program, topology\nprogram = Program('p', topology())\n"
    assert isinstance(file_with(tmp_path, text).load(), Program)


def test_a_module_beside_the_file_that_is_wrong_is_told_with_the_line_that_imports_it(tmp_path: Path) -> None:
    (tmp_path / "beside_the_program.py").write_text("\n\n\n\n\n\ndef half(:\n")
    file = file_with(tmp_path, f"{GOOD}import beside_the_program\n")
    with pytest.raises(ConfigError, match=r"program\.py:4: SyntaxError: .*beside_the_program\.py, line 7"):
        file.load()


def test_a_failure_is_not_remembered(tmp_path: Path) -> None:
    """What it reads beside itself may come later."""
    file = file_with(
        tmp_path, f"{GOOD}open({str(tmp_path / 'later')!r}).close()\np = Program('p', builder.build())\n"
    )
    with pytest.raises(ConfigError, match="FileNotFoundError"):
        file.load()
    (tmp_path / "later").touch()
    assert file.load().application_id == "p"
