"""Whether Spark is installed."""

from importlib.util import find_spec

from penstock.errors import ConfigError

HOW_TO_GET_SPARK = "Spark is not installed; get it with: pip install 'penstock[spark]'"


def require_spark() -> None:
    if find_spec("pyspark") is None:
        raise ConfigError(HOW_TO_GET_SPARK)
