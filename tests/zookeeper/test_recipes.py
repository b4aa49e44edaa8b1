"""kazoo's recipes, as the users of ZooKeeper know them: lock, election, barrier, queue, counters, watches."""

import queue
import threading
from collections.abc import Callable

from kazoo.client import KazooClient

from tests.zookeeper.running import WAIT_SECONDS, ServerThread

Connect = Callable[..., KazooClient]


def in_thread(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def finish(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()


def test_lock_lets_one_in_at_a_time(connect: Connect) -> None:
    clients = [connect() for _ in range(3)]
    inside: list[int] = []
    most = []

    def work(client: KazooClient, number: int) -> None:
        for _ in range(5):
            with client.Lock("/lock", str(number)):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    finish(*[in_thread(lambda c=c, n=n: work(c, n)) for n, c in enumerate(clients)])
    assert most == [1] * 15


def test_lock_is_freed_when_its_holder_is_gone(connect: Connect) -> None:
    holder, waiter = connect(), connect()
    assert holder.Lock("/lock").acquire()
    lock = waiter.Lock("/lock")
    assert not lock.acquire(blocking=False)
    waiting = in_thread(lambda: lock.acquire(timeout=WAIT_SECONDS))
    holder.stop()
    finish(waiting)
    assert lock.is_acquired


def test_election_passes_on_when_the_leader_is_gone(connect: Connect) -> None:
    leaders: queue.Queue[str] = queue.Queue()
    resign = {name: threading.Event() for name in "ab"}

    def lead(name: str) -> None:
        leaders.put(name)
        resign[name].wait(WAIT_SECONDS)

    clients = {name: connect() for name in "ab"}
    threads = [
        in_thread(lambda name=name: clients[name].Election("/election", name).run(lead, name))
        for name in "ab"
    ]
    first = leaders.get(timeout=WAIT_SECONDS)
    assert leaders.empty()
    resign[first].set()
    second = leaders.get(timeout=WAIT_SECONDS)
    assert {first, second} == {"a", "b"}
    resign[second].set()
    finish(*threads)


def test_barriers(connect: Connect) -> None:
    first, second = connect(), connect()
    first.Barrier("/barrier").create()
    passed = threading.Event()
    waiting = in_thread(lambda: second.Barrier("/barrier").wait(WAIT_SECONDS) and passed.set())
    assert first.Barrier("/barrier").remove()
    finish(waiting)
    assert passed.is_set()
    doubles = [client.DoubleBarrier("/double", 2) for client in (first, second)]
    finish(*[in_thread(barrier.enter) for barrier in doubles])
    assert all(barrier.participating for barrier in doubles)
    finish(*[in_thread(barrier.leave) for barrier in doubles])


def test_queue_and_counter(connect: Connect) -> None:
    first, second = connect(), connect()
    for value in (b"one", b"two", b"three"):
        first.Queue("/queue").put(value)
    assert [second.Queue("/queue").get() for _ in range(4)] == [b"one", b"two", b"three", None]
    locking = second.LockingQueue("/locking")
    first.LockingQueue("/locking").put(b"job", priority=1)
    assert locking.get(WAIT_SECONDS) == b"job"
    assert locking.consume()
    counters = [client.Counter("/counter") for client in (first, second)]

    def add(counter: object) -> None:
        for _ in range(10):
            counter += 1  # type: ignore[operator]

    finish(*[in_thread(lambda counter=counter: add(counter)) for counter in counters])
    assert counters[0].value == 20


def test_data_and_children_watches(client: KazooClient) -> None:
    values: queue.Queue[bytes | None] = queue.Queue()
    children: queue.Queue[list[str]] = queue.Queue()
    client.DataWatch("/watched", lambda data, _: values.put(data))
    assert values.get(timeout=WAIT_SECONDS) is None
    client.create("/watched", b"1")
    assert values.get(timeout=WAIT_SECONDS) == b"1"
    client.ChildrenWatch("/watched", lambda names: children.put(sorted(names)))
    assert children.get(timeout=WAIT_SECONDS) == []
    client.create("/watched/a")
    assert children.get(timeout=WAIT_SECONDS) == ["a"]
    client.set("/watched", b"2")
    assert values.get(timeout=WAIT_SECONDS) == b"2"
    client.create("/watched/b")
    assert children.get(timeout=WAIT_SECONDS) == ["a", "b"]


def test_party_and_semaphore(connect: Connect, server: ServerThread) -> None:
    first, second = connect(), connect()
    parties = [client.Party("/party", name) for client, name in ((first, "one"), (second, "two"))]
    for party in parties:
        party.join()
    assert sorted(parties[0]) == ["one", "two"]
    second.stop()
    assert list(parties[0]) == ["one"]
    semaphore = first.Semaphore("/semaphore", max_leases=2)
    with semaphore:
        assert semaphore.lease_holders()
