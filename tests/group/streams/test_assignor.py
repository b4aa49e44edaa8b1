"""The sticky assignor: all tasks have an owner, standbys are elsewhere, the load is even, and what can stay stays."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from penstock.group.streams.assignor import assign_tasks
from penstock.group.streams.tasks import Task, Tasks, each_task
from penstock.group.streams.topics import ConfiguredSubtopology, InternalTopic

MEMBERS = [f"member-{number}" for number in range(9)]
PROCESSES = [f"process-{number}" for number in range(4)]
CHANGELOG = {"changelog": InternalTopic("changelog", 1, 0, {})}

Subtopologies = dict[str, ConfiguredSubtopology]
Processes = dict[str, str]

subtopology = st.builds(
    lambda count, is_stateful: ConfiguredSubtopology(
        count, frozenset({"source"}), {}, frozenset(), CHANGELOG if is_stateful else {}
    ),
    st.integers(1, 7),
    st.booleans(),
)
subtopologies_of = st.dictionaries(st.sampled_from(["0", "1", "2"]), subtopology, min_size=1)
processes_of = st.dictionaries(st.sampled_from(MEMBERS), st.sampled_from(PROCESSES), min_size=1)
replicas_of = st.integers(0, 3)


def stateful(count: int) -> ConfiguredSubtopology:
    return ConfiguredSubtopology(count, frozenset({"source"}), {}, frozenset(), CHANGELOG)


def stateless(count: int) -> ConfiguredSubtopology:
    return stateful(count)._replace(changelog_topics={})


def holders(assignment: dict[str, Tasks], role: int) -> dict[Task, list[str]]:
    """Members by task."""
    found: dict[Task, list[str]] = {}
    for member_id, tasks in assignment.items():
        for task in each_task(tasks[role]):
            found.setdefault(task, []).append(member_id)
    return found


@given(processes_of, subtopologies_of, replicas_of)
def test_each_task_is_active_once_and_has_its_standbys_elsewhere(
    processes: Processes, subtopologies: Subtopologies, replicas: int
) -> None:
    assignment = assign_tasks(processes, subtopologies, {}, replicas)
    active, standby = holders(assignment, 0), holders(assignment, 1)
    wanted = {(name, index) for name, each in subtopologies.items() for index in range(each.task_count)}
    assert active.keys() == wanted
    assert all(len(members) == 1 for members in active.values())
    for task in wanted:
        copies = [processes[member_id] for member_id in [*active[task], *standby.get(task, [])]]
        assert len(set(copies)) == len(copies)
        possible = min(replicas, len(set(processes.values())) - 1)
        assert len(copies) - 1 == (possible if subtopologies[task[0]].is_stateful else 0)


@given(processes_of, subtopologies_of, replicas_of)
def test_what_is_assigned_stays(processes: Processes, subtopologies: Subtopologies, replicas: int) -> None:
    first = assign_tasks(processes, subtopologies, {}, replicas)
    second = assign_tasks(processes, subtopologies, first, replicas)
    assert [each.active for each in second.values()] == [each.active for each in first.values()]


@given(processes_of, subtopologies_of)
def test_who_stays_keeps_what_it_has(processes: Processes, subtopologies: Subtopologies) -> None:
    first = assign_tasks(processes, subtopologies, {}, 0)
    rest = dict(list(processes.items())[1:])
    second = assign_tasks(rest, subtopologies, first, 0)
    for member_id in rest:
        assert set(each_task(first[member_id].active)) <= set(each_task(second[member_id].active))


@given(st.integers(1, 9), subtopologies_of)
def test_members_have_equally_much(members: int, subtopologies: Subtopologies) -> None:
    processes = {f"member-{number}": f"process-{number}" for number in range(members)}
    assignment = assign_tasks(processes, subtopologies, {}, 0)
    counts = [len(list(each_task(tasks.active))) for tasks in assignment.values()]
    assert max(counts) - min(counts) <= 1


@given(processes_of, subtopologies_of)
def test_one_who_joins_gets_its_share(processes: Processes, subtopologies: Subtopologies) -> None:
    first = assign_tasks(processes, subtopologies, {}, 0)
    grown = {**processes, "new": "new"}
    assignment = assign_tasks(grown, subtopologies, first, 0)
    count = sum(each.task_count for each in subtopologies.values())
    assert len(list(each_task(assignment["new"].active))) >= count // len(grown) - len(processes)
    assert sum(len(list(each_task(tasks.active))) for tasks in assignment.values()) == count


def test_first_assignments_pair_the_partitions_of_subtopologies() -> None:
    processes = {"a": "process-a", "b": "process-b"}
    assignment = assign_tasks(processes, {"0": stateless(4), "1": stateless(4)}, {}, 0)
    assert assignment["a"].active["0"] == assignment["a"].active["1"]
    assert assignment["b"].active["0"] == assignment["b"].active["1"]


def test_a_standby_takes_over() -> None:
    processes = {"a": "process-a", "b": "process-b", "c": "process-c"}
    first = assign_tasks(processes, {"0": stateful(3)}, {}, 1)
    (lost,) = each_task(first["a"].active)
    (heir,) = holders(first, 1)[lost]
    second = assign_tasks({"b": "process-b", "c": "process-c"}, {"0": stateful(3)}, first, 1)
    assert lost in set(each_task(second[heir].active))


def test_processes_with_more_threads_get_more() -> None:
    processes = {"a1": "a", "a2": "a", "a3": "a", "b": "b"}
    assignment = assign_tasks(processes, {"0": stateless(8)}, {}, 0)
    per_process = Counter(
        processes[member_id] for member_id, tasks in assignment.items() for _ in each_task(tasks.active)
    )
    assert per_process == {"a": 6, "b": 2}


def test_nobody_gets_nothing() -> None:
    assert assign_tasks({}, {"0": stateful(2)}, {}, 1) == {}
