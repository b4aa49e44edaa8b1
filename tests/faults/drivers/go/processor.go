package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Copies each record of the input to the same partition of the output, a batch in a transaction.
func runProcessor(ctx context.Context, told settings) {
	journal := openJournal(told)
	session, err := kgo.NewGroupTransactSession(append(
		groupOptions(told, journal),
		kgo.TransactionalID(told.TransactionalID),
		kgo.TransactionTimeout(milliseconds(told.TransactionTimeoutMs)),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RetryTimeout(time.Minute),
	)...)
	if err != nil {
		fail(err)
	}
	for ctx.Err() == nil {
		if records := poll(session.PollRecords, journal); len(records) > 0 {
			transact(session, told, journal, records)
		}
	}
	session.Close()
	journal.note("closed")
}

func transact(session *kgo.GroupTransactSession, told settings, journal *journal, records []*kgo.Record) {
	if err := session.Begin(); err != nil {
		journal.note("error", err)
		fail(err)
	}
	outcome := kgo.TryCommit
	for _, record := range records {
		made := &kgo.Record{Topic: told.Output, Partition: record.Partition, Value: record.Value}
		session.Produce(context.Background(), made, nil)
	}
	if err := session.Client().Flush(context.Background()); err != nil {
		outcome = kgo.TryAbort
	}
	committed, err := session.End(context.Background(), outcome)
	if err != nil {
		journal.note("error", err)
		fail(err)
	}
	if committed {
		journal.noteRecords(records)
	} else {
		journal.note("commit-failed")
	}
}
