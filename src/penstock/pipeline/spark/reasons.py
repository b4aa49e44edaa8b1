"""One line that says why Spark failed, out of the many that it says."""

import re

MAX_LENGTH = 500
_NOISE = (
    re.compile(r"^Job aborted due to stage failure: "),
    re.compile(r"^Task \S+ in stage \S+ failed \d+ times, most recent failure: "),
    re.compile(r"^Lost task \S+ in stage \S+ \(TID \d+\) \([^)]*\): "),
    re.compile(r"^(?:[a-z]\w*\.)+(\w+: )"),
)
_PYTHON_ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b.*$", re.MULTILINE)


def reason_of(error: BaseException) -> str:
    text = _message_of(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    first = lines[0]
    for noise in _NOISE:
        first = noise.sub(lambda found: found[1] if found.lastindex else "", first)
    python_error = _raised_in_python(text)
    if python_error and python_error not in first:
        first = python_error
    return first[:MAX_LENGTH]


def _raised_in_python(text: str) -> str | None:
    """The last line of a Python traceback that Spark passes on."""
    if "Traceback (most recent call last)" not in text:
        return None
    found = _PYTHON_ERROR.search(text[text.index("Traceback (most recent call last)") :])
    return found[0].strip() if found else None


def _message_of(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    if java is not None:
        return _of_java(java, error)
    return str(error)


def _of_java(java: object, error: BaseException) -> str:
    """The exception lives in the driver's process, which may be gone."""
    try:
        return str(java.getMessage() or java.toString())  # type: ignore[attr-defined]
    except Exception:
        return f"{type(error).__name__}: the driver's process is gone"
