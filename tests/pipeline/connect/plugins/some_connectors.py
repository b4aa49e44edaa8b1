"""Connectors of an installed package."""

from penstock.pipeline.connect.api import SourceConnector, SourceTask


class EchoTask(SourceTask):
    pass


class EchoSource(SourceConnector):
    version = "3.2.1"
    task_class = EchoTask
