"""What goes wrong in a pipeline, in the words of Kafka Connect."""

from penstock.errors import PenstockError


class ConnectError(PenstockError):
    """A connector, task, converter or transform cannot go on."""


class DataError(ConnectError):
    """Data does not fit its schema, or cannot be converted."""


class RetriableConnectError(ConnectError):
    """The same call may succeed later: the task is asked again."""


class NotFoundError(ConnectError):
    """A connector, task or plugin of that name is not there."""


class AlreadyExistsError(ConnectError):
    """A connector of that name is there already."""
