"""Which topics the members of a group want: by name, by regular expression, and how many want each."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.controller.image import ClusterImage
from penstock.group.consumer_member import Member, MemberMetadata


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that a regular expression matched when it was last looked at."""

    topics: frozenset[str]
    version: int
    """Of the set of topics that it was matched against."""
    timestamp_ms: int


class Subscriptions:
    """Counts who wants what, so that a change of one member costs no look at the others."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()
        """Members by topic that they name."""
        self.regexes: Counter[str] = Counter()
        """Members by regular expression."""
        self.resolved: dict[str, ResolvedRegex] = {}
        self._matched: Counter[str] = Counter()
        """Resolved regular expressions by topic."""

    def replace_member(self, old: MemberMetadata | None, new: MemberMetadata | None) -> None:
        if old is not None and new is not None and _wants_the_same(old, new):
            return
        if old is not None:
            _discount(self.names, old.subscribed_topic_names)
            _discount(self.regexes, _regex_of(old))
        if new is not None:
            self.names.update(new.subscribed_topic_names)
            self.regexes.update(_regex_of(new))

    def replace_resolved(self, regex: str, new: ResolvedRegex | None) -> None:
        old = self.resolved.pop(regex, None)
        if old is not None:
            _discount(self._matched, old.topics)
        if new is not None:
            self.resolved[regex] = new
            self._matched.update(new.topics)

    def topics(self) -> set[str]:
        return self.names.keys() | self._matched.keys()

    def __contains__(self, topic: str) -> bool:
        return topic in self.names or topic in self._matched

    def topics_after(
        self, leaving: Iterable[MemberMetadata], joining: Iterable[MemberMetadata] = ()
    ) -> set[str]:
        """The topics that would be wanted after such a change; a regular expression without members is forgotten."""
        names, regexes = Counter(self.names), Counter(self.regexes)
        for metadata in leaving:
            _discount(names, metadata.subscribed_topic_names)
            _discount(regexes, _regex_of(metadata))
        for metadata in joining:
            names.update(metadata.subscribed_topic_names)
            regexes.update(_regex_of(metadata))
        return set(names).union(
            *(resolved.topics for regex, resolved in self.resolved.items() if regex in regexes)
        )

    def last_refresh_ms(self) -> int | None:
        return min((resolved.timestamp_ms for resolved in self.resolved.values()), default=None)

    def last_version(self) -> int:
        return min((resolved.version for resolved in self.resolved.values()), default=0)


def subscribed_topic_ids(
    metadata: MemberMetadata, resolved: Mapping[str, ResolvedRegex], image: ClusterImage
) -> frozenset[bytes]:
    """The topics that exist and that a member wants."""
    names: Iterable[str] = metadata.subscribed_topic_names
    regex = resolved.get(metadata.subscribed_topic_regex or "")
    if regex is not None:
        names = metadata.subscribed_topic_names | regex.topics
    topics = image.topics
    return frozenset(topics[name].topic_id for name in names if name in topics)


def last_members_of_regexes(group: Subscriptions, leaving: Iterable[Member]) -> list[str]:
    """The regular expressions that nobody wants once these members are gone."""
    counts = Counter(regex for member in leaving for regex in _regex_of(member.metadata))
    return [regex for regex, count in counts.items() if group.regexes[regex] == count]


def _wants_the_same(old: MemberMetadata, new: MemberMetadata) -> bool:
    return (
        old.subscribed_topic_names == new.subscribed_topic_names
        and old.subscribed_topic_regex == new.subscribed_topic_regex
    )


def _regex_of(metadata: MemberMetadata) -> tuple[str, ...]:
    return (metadata.subscribed_topic_regex,) if metadata.subscribed_topic_regex else ()


def _discount(counts: Counter[str], keys: Iterable[str]) -> None:
    for key in keys:
        if counts[key] <= 1:
            del counts[key]
        else:
            counts[key] -= 1
