"""What a connector, transform, predicate or converter is written against, in the words of Kafka Connect."""

from penstock.pipeline.connect.api.config_def import ConfigDef, Importance
from penstock.pipeline.connect.api.connector import Connector, SinkConnector, SourceConnector
from penstock.pipeline.connect.api.contexts import SinkTaskContext, SourceTaskContext
from penstock.pipeline.connect.api.converter import Converter, HeaderConverter, SchemaAndValue
from penstock.pipeline.connect.api.task import SinkTask, SourceTask
from penstock.pipeline.connect.api.transformation import Predicate, Transformation
from penstock.pipeline.connect.errors import ConnectError, DataError, RetriableConnectError

__all__ = [
    "ConfigDef",
    "ConnectError",
    "Connector",
    "Converter",
    "DataError",
    "HeaderConverter",
    "Importance",
    "Predicate",
    "RetriableConnectError",
    "SchemaAndValue",
    "SinkConnector",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourceTask",
    "SourceTaskContext",
    "Transformation",
]
