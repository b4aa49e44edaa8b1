"""Records to an HTTP API, and from one, with the keys of Confluent's HTTP connectors."""

_HERE = "penstock.pipeline.connect.connectors.http"

JAVA_NAMES = {
    "io.confluent.connect.http.HttpSinkConnector": f"{_HERE}.sink:HttpSinkConnector",
    "io.confluent.connect.http.HttpSourceConnector": f"{_HERE}.source:HttpSourceConnector",
}
