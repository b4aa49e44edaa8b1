package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	producers       = map[int]*kgo.Client{}
	producersOpened = 0
)

func transactionOptions(req request) []kgo.Opt {
	options := []kgo.Opt{
		kgo.TransactionalID(req.TransactionalID),
		kgo.RecordPartitioner(fixedOrHashed{kgo.StickyKeyPartitioner(nil)}),
	}
	if req.TimeoutMs > 0 {
		options = append(options, kgo.TransactionTimeout(time.Duration(req.TimeoutMs)*time.Millisecond))
	}
	return options
}

func transactionOpen(ctx context.Context, req request) (object, error) {
	client, err := connect(req, transactionOptions(req)...)
	if err != nil {
		return nil, err
	}
	// The library asks for its producer id late; this is what makes it the newest one now.
	if _, _, err := client.ProducerID(ctx); err != nil {
		client.Close()
		return nil, err
	}
	producersOpened++
	producers[producersOpened] = client
	return object{"number": producersOpened}, nil
}

func transactionBegin(_ context.Context, req request) (object, error) {
	return object{}, producers[req.Number].BeginTransaction()
}

func transactionSend(ctx context.Context, req request) (object, error) {
	records := []*kgo.Record{}
	for _, given := range req.Records {
		made, err := toKafka(req.Topic, given)
		if err != nil {
			return nil, err
		}
		records = append(records, made)
	}
	return object{}, producers[req.Number].ProduceSync(ctx, records...).FirstErr()
}

func transactionCommit(ctx context.Context, req request) (object, error) {
	return object{}, producers[req.Number].EndTransaction(ctx, kgo.TryCommit)
}

func transactionAbort(ctx context.Context, req request) (object, error) {
	return object{}, producers[req.Number].EndTransaction(ctx, kgo.TryAbort)
}

func transactionClose(_ context.Context, req request) (object, error) {
	producers[req.Number].Close()
	delete(producers, req.Number)
	return object{}, nil
}

func transform(ctx context.Context, req request) (object, error) {
	options := append(transactionOptions(req),
		kgo.SeedBrokers(req.Bootstrap),
		kgo.ConsumerGroup(req.Group),
		kgo.ConsumeTopics(req.Topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.RequireStableFetchOffsets(),
	)
	session, err := kgo.NewGroupTransactSession(options...)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	for taken := 0; taken < req.Count; {
		fetches := session.PollRecords(ctx, req.Count-taken)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		if taken == 0 && fetches.NumRecords() > 0 {
			if err := session.Begin(); err != nil {
				return nil, err
			}
		}
		taken += fetches.NumRecords()
		if err := copyRecords(ctx, session, fetches.Records(), req.Target); err != nil {
			return nil, err
		}
	}
	committed, err := session.End(ctx, kgo.TransactionEndTry(req.Commit))
	if err == nil && committed != req.Commit {
		err = fmt.Errorf("the transaction ended otherwise: committed is %v", committed)
	}
	return object{}, err
}

func copyRecords(ctx context.Context, session *kgo.GroupTransactSession, records []*kgo.Record, target string) error {
	copies := []*kgo.Record{}
	for _, r := range records {
		copies = append(copies, &kgo.Record{
			Topic: target, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp, Partition: r.Partition,
		})
	}
	return session.ProduceSync(ctx, copies...).FirstErr()
}
