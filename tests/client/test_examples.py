"""Every public name has a documentation with an example, and every example is true.

Examples say `localhost:9092`. Here each docstring gets a broker of its own in that place, so that its topics are new;
and a Schema Registry in place of `localhost:8081`, which is the same for all, but empty.
"""

import doctest
import inspect
import io
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

import pytest

import penstock
import penstock.client
from penstock.client.registry import SchemaRegistryClient, SchemaRegistryError
from penstock.testing import InProcessBroker
from tests.support.registry import running_registry
from tests.support.rows import each_row
from tools.suite.processes import starts_processes

ADDRESS = "localhost:9092"
REGISTRY_ADDRESS = "localhost:8081"
ADMIN_CALLS = "penstock.client.admin."
"""Their examples are about `admin`, a `KafkaAdmin`."""
SHOWN_ONLY = {
    *(
        "create_acls",
        "delete_acls",
        "list_users",
        "upsert_user",
        "delete_user",
        "list_quotas",
        "alter_quotas",
    ),
    *(
        "elect_leaders",
        "reassign_partitions",
        "list_reassignments",
        "describe_share_groups",
        "describe_streams_groups",
        "terminate_transaction",
    ),
}
"""Calls of the admin whose examples show the call only; its tests run them, some on Apache Kafka alone."""
PUBLIC = sorted({*penstock.__all__, *penstock.client.__all__})


def modules() -> Iterator[str]:
    yield "penstock.client"
    for found in pkgutil.walk_packages(penstock.client.__path__, "penstock.client."):
        yield found.name


def docstrings() -> Iterator[doctest.DocTest]:
    """Those with examples, of everything that is defined in the client's modules."""
    finder = doctest.DocTestFinder()
    for name in modules():
        yield from (found for found in finder.find(import_module(name), name) if found.examples)


EXAMPLES = {found.name: found for found in docstrings()}


def placed(example: doctest.Example, addresses: dict[str, str]) -> doctest.Example:
    """The example with the addresses of running servers in it."""
    source, want, message = example.source, example.want, example.exc_msg
    for said, real in addresses.items():
        source, want = source.replace(said, real), want.replace(said, real)
        message = message and message.replace(said, real)
    return doctest.Example(source, want, message, example.lineno, example.indent, example.options)


@contextmanager
def surroundings(test: doctest.DocTest) -> Iterator[tuple[str, dict[str, object]]]:
    """The address of a broker and the names that the examples use, as far as they need any."""
    names: dict[str, object] = {"__name__": "example"}
    uses_admin = test.name.startswith(ADMIN_CALLS)
    if not uses_admin and not any(ADDRESS in example.source for example in test.examples):
        yield ADDRESS, names
        return
    with (
        InProcessBroker() as broker,
        penstock.KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        yield broker.bootstrap_servers, {**names, "admin": admin} if uses_admin else names


@pytest.fixture(scope="module")
@starts_processes
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        InProcessBroker() as broker,
        running_registry(broker.bootstrap_servers, tmp_path_factory.mktemp("registry")) as registry,
    ):
        yield registry.url


@pytest.fixture
def registry_address(registry_url: str) -> str:
    """Of a registry in which there is nothing."""
    with SchemaRegistryClient(registry_url) as registry:
        for forget in (registry.delete_mode, registry.delete_config):
            with suppress(SchemaRegistryError):
                forget("names-value")
        for permanent in (False, True):
            for subject in registry.subjects(deleted=permanent):
                registry.delete_subject(subject, permanent)
    return registry_url.removeprefix("http://")


def needs_registry(name: str) -> bool:
    return any(REGISTRY_ADDRESS in example.source for example in EXAMPLES[name].examples)


NAMES = [
    pytest.param(name, marks=pytest.mark.processes) if needs_registry(name) else name for name in EXAMPLES
]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_true(name: str, request: pytest.FixtureRequest) -> None:
    test = EXAMPLES[name]
    addresses = {}
    if needs_registry(name):
        addresses[REGISTRY_ADDRESS] = request.getfixturevalue("registry_address")
    with surroundings(test) as (address, names):
        addresses[ADDRESS] = address
        examples = [placed(example, addresses) for example in test.examples]
        copy = doctest.DocTest(examples, names, name, test.filename, test.lineno, test.docstring)
        report = io.StringIO()
        failed = (
            doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
            .run(copy, out=report.write)
            .failed
        )
    assert not failed, report.getvalue()


def public_members(cls: type) -> Iterator[str]:
    """The methods of a class that we have written."""
    for base in cls.__mro__:
        if base.__module__.startswith("penstock."):
            for name, member in vars(base).items():
                is_ours = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
                if is_ours and not name.startswith("_") and _code_of(member).co_filename != "<string>":
                    yield name


def _code_of(member: object) -> object:
    return inspect.unwrap(getattr(member, "__func__", member)).__code__


def documented() -> Iterator[str]:
    for name in PUBLIC:
        value = getattr(penstock.client, name, None) or getattr(penstock, name)
        yield name
        if inspect.isclass(value):
            yield from (f"{name}.{member}" for member in sorted(set(public_members(value))))


@each_row("name", list(documented()))
def test_public_names_have_an_example(name: str) -> None:
    first, _, member = name.partition(".")
    value = getattr(penstock.client, first, None) or getattr(penstock, first)
    text = inspect.getdoc(inspect.getattr_static(value, member) if member else value)
    if member and not text:
        text = inspect.getdoc(getattr(value, member))
    assert text, f"{name} has no documentation"
    example = f"admin.{member}(" if member in SHOWN_ONLY else ">>> "
    assert example in text, f"{name} has no example"


@pytest.mark.parametrize("package", [penstock, penstock.client], ids=["penstock", "penstock.client"])
def test_exports_are_what_type_checkers_see(package: object) -> None:
    """The table of lazy names, `__all__`, and the imports under TYPE_CHECKING agree."""
    source = inspect.getsource(package)
    seen = source.partition("if TYPE_CHECKING:")[2].partition("__all__")[0]
    for name in package.__all__:
        assert getattr(package, name)
        assert name in seen.replace(",", " ").replace("(", " ").split(), (
            f"{name} is not imported for type checkers"
        )
    assert set(package.__all__) == set(package._MODULE_OF)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'KafkaProdcer'"):
        _ = package.KafkaProdcer
