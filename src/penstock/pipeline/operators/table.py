"""Which operator does which operation."""

from typing import Any

from penstock.pipeline.operators import (
    aggregates,
    foreign_keys,
    processors,
    sessions,
    sliding,
    stateless,
    stream_joins,
    suppress,
    table_joins,
    tables,
    windowed,
)
from penstock.pipeline.operators.base import Operator, TaskContext
from penstock.pipeline.plan import operations as plan

OPERATORS: dict[type[plan.Operation], type[Operator[Any]]] = {
    plan.FilterRecords: stateless.FilterRecords,
    plan.KeepKeyed: stateless.KeepKeyed,
    plan.MapRecords: stateless.MapRecords,
    plan.SelectKey: stateless.SelectKey,
    plan.MapValues: stateless.MapValues,
    plan.FlatMap: stateless.FlatMap,
    plan.FlatMapValues: stateless.FlatMapValues,
    plan.Peek: stateless.Peek,
    plan.Branch: stateless.Branch,
    plan.PassThrough: stateless.PassThrough,
    plan.TableSource: tables.TableSource,
    plan.TableFilter: tables.TableFilter,
    plan.TableMapValues: tables.TableMapValues,
    plan.TableToStream: tables.TableToStream,
    plan.RegroupTable: tables.RegroupTable,
    plan.MergeJoined: tables.MergeJoined,
    plan.TableAggregate: aggregates.TableAggregate,
    plan.TableReduce: aggregates.TableReduce,
    plan.AggregateStream: aggregates.AggregateStream,
    plan.ReduceStream: aggregates.ReduceStream,
    plan.AggregateTimeWindows: windowed.AggregateTimeWindows,
    plan.AggregateSlidingWindows: sliding.AggregateSlidingWindows,
    plan.AggregateSessions: sessions.AggregateSessions,
    plan.JoinTables: table_joins.JoinTables,
    plan.JoinTable: table_joins.JoinTable,
    plan.KeepForJoin: stream_joins.KeepForJoin,
    plan.JoinStreams: stream_joins.JoinStreams,
    plan.Suppress: suppress.Suppress,
    plan.Subscribe: foreign_keys.Subscribe,
    plan.ReceiveSubscription: foreign_keys.ReceiveSubscription,
    plan.JoinSubscription: foreign_keys.JoinSubscription,
    plan.AnswerSubscribers: foreign_keys.AnswerSubscribers,
    plan.ResolveAnswer: foreign_keys.ResolveAnswer,
    plan.RunProcessor: processors.RunProcessor,
}


def operator_of(name: str, operation: plan.Operation, context: TaskContext) -> Operator[Any]:
    kind = OPERATORS[type(operation)]
    if isinstance(operation, plan.AggregateTimeWindows):
        windows = operation.windows
        is_tumbling = windows.advance_ms == windows.size_ms
        kind = windowed.EagerTimeWindows if is_tumbling and not operation.emits_on_close else kind
    return kind(name, operation, context)
