"""kafka-consumer-groups --validate-regex."""

from __future__ import annotations

# What RE2 says, and what Kafka's RE2/J says to the same.
WORDS_OF_RE2J = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "bad repetition operator": "invalid nested repetition operator",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "unexpected )": "regexp/syntax: internal error",
}


def print_validity(regex: str) -> None:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(regex, options)
    except re2.error as error:
        text = error.args[0].decode("utf-8", "replace") if error.args else ""
        said = text.partition(": ")[0]
        print(f"The regular expression `{regex}` is invalid: {WORDS_OF_RE2J.get(said, said)}.")
    else:
        print(f"The regular expression `{regex}` is valid.")
