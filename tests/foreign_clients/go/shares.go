package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sharer is a share consumer, with what it has polled and not yet acknowledged.
type sharer struct {
	client     *kgo.Client
	maxRecords int
	held       map[string]*kgo.Record
}

var (
	sharers       = map[int]*sharer{}
	sharersOpened = 0
	ackStatus     = map[string]kgo.AckStatus{
		"accept": kgo.AckAccept, "release": kgo.AckRelease, "reject": kgo.AckReject,
	}
)

func place(topic string, partition int32, offset int64) string {
	return fmt.Sprintf("%s-%d@%d", topic, partition, offset)
}

func shareOpen(_ context.Context, req request) (object, error) {
	client, err := connect(req,
		kgo.ShareGroup(req.Group),
		kgo.ConsumeTopics(req.Topic),
		kgo.ShareMaxRecords(int32(req.MaxRecords)),
		kgo.ShareMaxRecordsStrict(),
	)
	if err != nil {
		return nil, err
	}
	sharersOpened++
	sharers[sharersOpened] = &sharer{client: client, maxRecords: req.MaxRecords, held: map[string]*kgo.Record{}}
	return object{"number": sharersOpened}, nil
}

func sharePoll(ctx context.Context, req request) (object, error) {
	s := sharers[req.Number]
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	fetches := s.client.PollRecords(ctx, s.maxRecords)
	if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	records := []object{}
	fetches.EachRecord(func(r *kgo.Record) {
		s.held[place(r.Topic, r.Partition, r.Offset)] = r
		records = append(records, object{
			"topic": r.Topic, "partition": r.Partition, "offset": r.Offset,
			"value": r.Value, "delivery_count": r.DeliveryCount(),
		})
	})
	return object{"records": records}, nil
}

func shareAcknowledge(_ context.Context, req request) (object, error) {
	s := sharers[req.Number]
	s.held[place(req.Topic, req.Partition, req.Offset)].Ack(ackStatus[req.How])
	return object{}, nil
}

func shareCommit(ctx context.Context, req request) (object, error) {
	return object{}, sharers[req.Number].client.FlushAcks(ctx)
}

func shareClose(_ context.Context, req request) (object, error) {
	sharers[req.Number].client.Close()
	delete(sharers, req.Number)
	return object{}, nil
}
