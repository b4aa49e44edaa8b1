package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

var acks = map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks()}

// fixedOrHashed sends a record to the partition that it names, and hashes the key of one that names none.
type fixedOrHashed struct{ hashed kgo.Partitioner }

type fixedOrHashedTopic struct{ hashed kgo.TopicPartitioner }

func (p fixedOrHashed) ForTopic(topic string) kgo.TopicPartitioner {
	return fixedOrHashedTopic{p.hashed.ForTopic(topic)}
}

func (fixedOrHashedTopic) RequiresConsistency(*kgo.Record) bool { return true }

func (p fixedOrHashedTopic) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return int(r.Partition)
	}
	return p.hashed.Partition(r, n)
}

func produceOptions(req request) []kgo.Opt {
	options := []kgo.Opt{
		kgo.ProducerBatchCompression(codecs[req.Codec]),
		kgo.RequiredAcks(acks[req.Acks]),
		kgo.ProducerBatchMaxBytes(32 << 20),
		kgo.BrokerMaxWriteBytes(64 << 20),
		kgo.ProducerLinger(20 * time.Millisecond),
		kgo.RecordPartitioner(fixedOrHashed{kgo.StickyKeyPartitioner(nil)}),
		kgo.UnknownTopicRetries(1),
	}
	if !req.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	if req.AutoCreate {
		options = append(options, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(20))
	}
	return options
}

func produce(ctx context.Context, req request) (object, error) {
	client, err := connect(req, produceOptions(req)...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	records := make([]*kgo.Record, 0, len(req.Records))
	for _, given := range req.Records {
		made, err := toKafka(req.Topic, given)
		if err != nil {
			return nil, err
		}
		records = append(records, made)
	}
	results := client.ProduceSync(ctx, records...)
	if err := results.FirstErr(); err != nil {
		return nil, err
	}
	sent := []object{}
	for _, r := range records { // promises fill in the records that were given, in their order
		offset := r.Offset
		if req.Acks == "0" {
			offset = -1
		}
		sent = append(sent, object{"partition": r.Partition, "offset": offset, "timestamp": r.Timestamp.UnixMilli()})
	}
	return object{"sent": sent}, nil
}

func toKafka(topic string, given record) (*kgo.Record, error) {
	made := &kgo.Record{Topic: topic, Key: given.Key, Value: given.Value, Partition: -1}
	if given.Partition != nil {
		made.Partition = *given.Partition
	}
	if given.Timestamp != nil {
		made.Timestamp = time.UnixMilli(*given.Timestamp)
	}
	for _, pair := range given.Headers {
		var header kgo.RecordHeader
		if err := json.Unmarshal(pair[0], &header.Key); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(pair[1], &header.Value); err != nil {
			return nil, err
		}
		made.Headers = append(made.Headers, header)
	}
	return made, nil
}

func fromKafka(r *kgo.Record) record {
	timestamp, partition := r.Timestamp.UnixMilli(), r.Partition
	kind := map[int8]string{0: "CreateTime", 1: "LogAppendTime"}[r.Attrs.TimestampType()]
	made := record{Key: r.Key, Value: r.Value, Timestamp: &timestamp, Partition: &partition, Offset: r.Offset}
	made.TimestampType = kind
	made.Headers = [][2]json.RawMessage{}
	for _, header := range r.Headers {
		key, _ := json.Marshal(header.Key)
		value, _ := json.Marshal(header.Value)
		made.Headers = append(made.Headers, [2]json.RawMessage{key, value})
	}
	return made
}

func assignment(req request, offset kgo.Offset) map[string]map[int32]kgo.Offset {
	return map[string]map[int32]kgo.Offset{req.Topic: {req.Partition: offset}}
}

func read(ctx context.Context, client *kgo.Client, count int) ([]*kgo.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	records := []*kgo.Record{}
	for len(records) < count {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			break
		}
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		records = append(records, fetches.Records()...)
	}
	return records[:min(count, len(records))], nil
}

func consume(ctx context.Context, req request) (object, error) {
	start := kgo.NewOffset().At(req.Offset)
	client, err := connect(req, kgo.ConsumePartitions(assignment(req, start)), kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return readAll(ctx, client, req.Count)
}

func consumePartitions(ctx context.Context, req request) (object, error) {
	assigned := map[int32]kgo.Offset{}
	for _, partition := range req.Assigned {
		assigned[partition] = kgo.NewOffset().AtStart()
	}
	client, err := connect(req, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{req.Topic: assigned}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return readAll(ctx, client, req.Count)
}

func readAll(ctx context.Context, client *kgo.Client, count int) (object, error) {
	records, err := read(ctx, client, count)
	if err != nil {
		return nil, err
	}
	found := []record{}
	for _, r := range records {
		found = append(found, fromKafka(r))
	}
	return object{"records": found}, nil
}

func target(at position) kgo.Offset {
	switch at.Kind {
	case "beginning":
		return kgo.NewOffset().AtStart()
	case "timestamp":
		return kgo.NewOffset().AfterMilli(at.At)
	default:
		return kgo.NewOffset().At(at.At)
	}
}

func seek(ctx context.Context, req request) (object, error) {
	client, err := connect(req)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	visits := [][]int64{}
	for _, at := range req.Positions {
		visited, err := visit(ctx, client, req, at)
		if err != nil {
			return nil, err
		}
		visits = append(visits, visited)
	}
	return object{"visits": visits}, nil
}

func visit(ctx context.Context, client *kgo.Client, req request, at position) ([]int64, error) {
	if at.Kind == "end" {
		listed, err := listed(ctx, kadm.NewClient(client).ListEndOffsets, req)
		return []int64{listed.Offset}, err
	}
	client.AddConsumePartitions(assignment(req, target(at)))
	defer client.RemoveConsumePartitions(map[string][]int32{req.Topic: {req.Partition}})
	records, err := read(ctx, client, req.Count)
	visited := []int64{}
	for _, r := range records {
		visited = append(visited, r.Offset)
	}
	return visited, err
}

type lister func(context.Context, ...string) (kadm.ListedOffsets, error)

func listed(ctx context.Context, list lister, req request) (kadm.ListedOffset, error) {
	all, err := list(ctx, req.Topic)
	if err != nil {
		return kadm.ListedOffset{}, err
	}
	found, exists := all.Lookup(req.Topic, req.Partition)
	if !exists {
		return found, fmt.Errorf("no offset listed for %s-%d", req.Topic, req.Partition)
	}
	return found, found.Err
}

func offsets(ctx context.Context, req request) (object, error) {
	answer, err := offsetsAt(ctx, req, append([]int64{-2, -1}, req.Timestamps...))
	if err != nil {
		return nil, err
	}
	return object{"beginning": answer[0]["offset"], "end": answer[1]["offset"], "for_times": answer[2:]}, nil
}

// partitionsOf asks for the metadata of the topic, as a consumer that starts on it does.
func partitionsOf(ctx context.Context, req request) (object, error) {
	client, err := connect(req)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ask := kmsg.NewMetadataRequest()
	ask.AllowAutoTopicCreation = req.AutoCreate
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(req.Topic)
	ask.Topics = append(ask.Topics, topic)
	response, err := ask.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(response.Topics[0].ErrorCode); err != nil {
		return nil, err
	}
	partitions := []int32{}
	for _, partition := range response.Topics[0].Partitions {
		partitions = append(partitions, partition.Partition)
	}
	return object{"partitions": partitions}, nil
}
