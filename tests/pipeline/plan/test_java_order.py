"""Sets in Java's order. What becomes of it when ranks change is compared with Kafka Streams' descriptions."""

from random import Random

from penstock.pipeline.plan.java_order import TreeSet, hash_set_order


def test_a_tree_set_is_in_order() -> None:
    random = Random(3)
    members = [[random.randrange(50), number] for number in range(200)]
    tree: TreeSet[list[int]] = TreeSet(lambda member: member)
    for member in [*members, *members]:
        tree.add(member)
    assert list(tree) == sorted(members)


def test_what_is_in_stays_where_it_is() -> None:
    members = [[1], [2], [3]]
    tree: TreeSet[list[int]] = TreeSet(lambda member: member)
    for member in members:
        tree.add(member)
    members[0][0] = 9
    assert list(tree) == [[9], [2], [3]]


def test_strings_stand_as_in_a_hash_set_of_java() -> None:
    assert hash_set_order(["in", "other", "in"]) == ["other", "in"]
