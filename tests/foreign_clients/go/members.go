package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// member is a consumer that reads on in the background.
type member struct {
	group      string
	assigned   bool // reads given partitions, uses the group for offsets only
	client     *kgo.Client
	stop       context.CancelFunc
	done       chan struct{}
	mutex      sync.Mutex
	owned      map[topicPartition]bool
	revoked    []topicPartition
	rebalances int
	records    []record
	failure    error
}

var (
	members       = map[int]*member{}
	membersOpened = 0
	isolation     = map[string]kgo.IsolationLevel{
		"read_committed":   kgo.ReadCommitted(),
		"read_uncommitted": kgo.ReadUncommitted(),
	}
)

func memberOptions(req request, m *member) []kgo.Opt {
	options := []kgo.Opt{
		kgo.FetchIsolationLevel(isolation[req.Isolation]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.MetadataMaxAge(time.Second),
	}
	if m.assigned {
		return options
	}
	options = append(options,
		kgo.ConsumerGroup(req.Group),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(30*time.Second),
		kgo.HeartbeatInterval(300*time.Millisecond),
		kgo.OnPartitionsAssigned(m.onAssigned),
		kgo.OnPartitionsRevoked(m.onLost),
		kgo.OnPartitionsLost(m.onLost),
	)
	if req.InstanceID != nil {
		options = append(options, kgo.InstanceID(*req.InstanceID))
	}
	if req.Pattern != nil {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(*req.Pattern))
	} else {
		options = append(options, kgo.ConsumeTopics(req.Topics...))
	}
	return append(options, protocolOptions(req.Protocol)...)
}

func protocolOptions(protocol string) []kgo.Opt {
	switch protocol {
	case "consumer":
		return []kgo.Opt{kgo.Balancers(kgo.StickyBalancer()), kgo.ServerSideBalancer()}
	case "cooperative":
		return []kgo.Opt{kgo.Balancers(kgo.CooperativeStickyBalancer())}
	default:
		return []kgo.Opt{kgo.Balancers(kgo.RangeBalancer())}
	}
}

func (m *member) onAssigned(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.rebalances++
	m.own(partitions)
}

func (m *member) own(partitions map[string][]int32) {
	for topic, numbers := range partitions {
		for _, number := range numbers {
			m.owned[topicPartition{topic, number}] = true
		}
	}
}

func (m *member) onLost(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for topic, numbers := range partitions {
		for _, number := range numbers {
			delete(m.owned, topicPartition{topic, number})
			m.revoked = append(m.revoked, topicPartition{topic, number})
		}
	}
}

func memberOpen(ctx context.Context, req request) (object, error) {
	m := &member{group: req.Group, assigned: len(req.Places) > 0, owned: map[topicPartition]bool{}, revoked: []topicPartition{}, records: []record{}}
	client, err := connect(req, memberOptions(req, m)...)
	if err != nil {
		return nil, err
	}
	m.client = client
	if m.assigned {
		if err := m.assign(ctx, req.Places); err != nil {
			client.Close()
			return nil, err
		}
	}
	reading, stop := context.WithCancel(context.Background())
	m.stop, m.done = stop, make(chan struct{})
	go m.read(reading)
	membersOpened++
	members[membersOpened] = m
	return object{"number": membersOpened}, nil
}

// assign starts where the group has committed, which the library does only for members.
func (m *member) assign(ctx context.Context, partitions []topicPartition) error {
	committed, err := kadm.NewClient(m.client).FetchOffsets(ctx, m.group)
	if err != nil {
		return err
	}
	starts := map[string]map[int32]kgo.Offset{}
	for _, each := range partitions {
		start := kgo.NewOffset().AtStart()
		if found, exists := committed.Lookup(each.topic, each.partition); exists && found.At >= 0 {
			start = kgo.NewOffset().At(found.At)
		}
		if starts[each.topic] == nil {
			starts[each.topic] = map[int32]kgo.Offset{}
		}
		starts[each.topic][each.partition] = start
		m.owned[each] = true
	}
	m.client.AddConsumePartitions(starts)
	return nil
}

func (m *member) read(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		fetches := m.client.PollFetches(ctx)
		m.mutex.Lock()
		if err := fetches.Err(); err != nil && !errors.Is(err, context.Canceled) {
			m.failure = err
		}
		fetches.EachRecord(func(r *kgo.Record) { m.records = append(m.records, fromKafka(r)) })
		m.mutex.Unlock()
	}
}

func memberState(_ context.Context, req request) (object, error) {
	m := members[req.Number]
	m.mutex.Lock()
	defer m.mutex.Unlock()
	owned := []topicPartition{}
	for each := range m.owned {
		owned = append(owned, each)
	}
	return object{
		"assignment": owned, "rebalances": m.rebalances, "revoked": m.revoked,
		"records": m.records[req.Seen:],
	}, m.failure
}

func memberCommit(ctx context.Context, req request) (object, error) {
	m := members[req.Number]
	if m.assigned {
		return object{}, kadm.NewClient(m.client).CommitAllOffsets(ctx, m.group, toOffsets(req.Offsets))
	}
	wanted := map[string]map[int32]kgo.EpochOffset{}
	metadata := map[topicPartition]string{}
	for _, each := range req.Offsets {
		if wanted[each.topic] == nil {
			wanted[each.topic] = map[int32]kgo.EpochOffset{}
		}
		wanted[each.topic][each.partition] = kgo.EpochOffset{Epoch: -1, Offset: each.offset}
		metadata[each.topicPartition] = each.metadata
	}
	var failed error
	m.client.CommitOffsetsSync(withMetadata(ctx, metadata), wanted,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
			failed = commitFailure(response, err)
		})
	return object{}, failed
}

// withMetadata puts the metadata into the request, where the library by itself puts the member's id.
func withMetadata(ctx context.Context, metadata map[topicPartition]string) context.Context {
	return kgo.PreCommitFnContext(ctx, func(req *kmsg.OffsetCommitRequest) error {
		for i := range req.Topics {
			for j := range req.Topics[i].Partitions {
				partition := &req.Topics[i].Partitions[j]
				text := metadata[topicPartition{req.Topics[i].Topic, partition.Partition}]
				partition.Metadata = &text
			}
		}
		return nil
	})
}

func memberCommitted(ctx context.Context, req request) (object, error) {
	m := members[req.Number]
	topics := []string{}
	for _, each := range req.Places {
		topics = append(topics, each.topic)
	}
	found, err := kadm.NewClient(m.client).FetchOffsetsForTopics(ctx, m.group, topics...)
	if err != nil {
		return nil, err
	}
	return fromOffsets(found, req.Places), found.Error()
}

func memberClose(_ context.Context, req request) (object, error) {
	m := members[req.Number]
	delete(members, req.Number)
	m.stop()
	<-m.done
	m.client.Close()
	return object{}, nil
}
