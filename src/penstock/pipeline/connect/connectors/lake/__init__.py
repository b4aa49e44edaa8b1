"""Files of a data lake: Parquet, JSON or CSV in a folder, on S3 or on HDFS, with the keys of Confluent's S3 sink."""

_HERE = "penstock.pipeline.connect.connectors.lake"

JAVA_NAMES = {
    "io.confluent.connect.s3.S3SinkConnector": f"{_HERE}.sink:LakeSinkConnector",
    "io.confluent.connect.hdfs3.Hdfs3SinkConnector": f"{_HERE}.sink:LakeSinkConnector",
    "penstock.LakeSinkConnector": f"{_HERE}.sink:LakeSinkConnector",
    "penstock.LakeSourceConnector": f"{_HERE}.source:LakeSourceConnector",
}
