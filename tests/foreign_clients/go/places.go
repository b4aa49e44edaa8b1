package main

import (
	"encoding/json"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicPartition is a list of two in JSON.
type topicPartition struct {
	topic     string
	partition int32
}

func (p topicPartition) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.topic, p.partition})
}

func (p *topicPartition) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&p.topic, &p.partition})
}

// committed is a list of four in JSON: topic, partition, offset, metadata.
type committed struct {
	topicPartition
	offset   int64
	metadata string
}

func (c committed) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{c.topic, c.partition, c.offset, c.metadata})
}

func (c *committed) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&c.topic, &c.partition, &c.offset, &c.metadata})
}

func toOffsets(given []committed) kadm.Offsets {
	offsets := kadm.Offsets{}
	for _, each := range given {
		offsets.Add(kadm.Offset{
			Topic: each.topic, Partition: each.partition, At: each.offset, LeaderEpoch: -1, Metadata: each.metadata,
		})
	}
	return offsets
}

// fromOffsets keeps the wanted ones, or all where none is named; -1 stands for nothing committed.
func fromOffsets(found kadm.OffsetResponses, wanted []topicPartition) object {
	offsets := []committed{}
	keep := map[topicPartition]bool{}
	for _, each := range wanted {
		keep[each] = true
	}
	found.Each(func(o kadm.OffsetResponse) {
		place := topicPartition{o.Topic, o.Partition}
		if o.At >= 0 && (len(wanted) == 0 || keep[place]) {
			offsets = append(offsets, committed{place, o.At, o.Metadata})
		}
	})
	return object{"offsets": offsets}
}

func fromTopics(set kadm.TopicsSet) []topicPartition {
	places := []topicPartition{}
	set.Each(func(topic string, partition int32) { places = append(places, topicPartition{topic, partition}) })
	return places
}

func toTopics(places []topicPartition) kadm.TopicsSet {
	set := kadm.TopicsSet{}
	for _, each := range places {
		set.Add(each.topic, each.partition)
	}
	return set
}

func commitFailure(response *kmsg.OffsetCommitResponse, err error) error {
	if err != nil {
		return err
	}
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
