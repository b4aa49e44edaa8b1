package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
)

func withAdmin(req request, run func(*kadm.Client) (object, error)) (object, error) {
	client, err := connect(req)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return run(kadm.NewClient(client))
}

func createTopic(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		create := admin.CreateTopics
		if req.ValidateOnly {
			create = admin.ValidateCreateTopics
		}
		responses, err := create(ctx, req.Partitions, req.ReplicationFactor, req.Configs, req.Topic)
		if err == nil {
			err = responses[req.Topic].Err
		}
		return object{}, err
	})
}

func deleteTopic(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		response, err := admin.DeleteTopic(ctx, req.Topic)
		if err == nil {
			err = response.Err
		}
		return object{}, err
	})
}

func createPartitions(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		responses, err := admin.UpdatePartitions(ctx, req.Total, req.Topic)
		if err == nil {
			err = responses[req.Topic].Err
		}
		return object{}, err
	})
}

func listTopics(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		topics, err := admin.ListTopics(ctx)
		return object{"topics": topics.Names()}, err
	})
}

func describeTopic(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		topics, err := admin.ListTopics(ctx, req.Topic)
		if err != nil {
			return nil, err
		}
		topic := topics[req.Topic]
		partitions := []object{}
		for _, p := range topic.Partitions.Sorted() {
			partitions = append(partitions, object{
				"partition": p.Partition, "leader": p.Leader, "replicas": p.Replicas, "isr": p.ISR,
			})
		}
		return object{"topic_id": topic.ID.String(), "partitions": partitions}, topic.Err
	})
}

func brokerNumber(req request) int32 {
	number, _ := strconv.ParseInt(req.Name, 10, 32)
	return int32(number)
}

func describeConfigs(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		resources, err := resourceConfigs(ctx, admin, req)
		if err != nil {
			return nil, err
		}
		resource, err := resources.On(req.Name, func(r *kadm.ResourceConfig) error { return r.Err })
		configs := object{}
		for _, config := range resource.Configs {
			configs[config.Key] = object{
				"value": config.Value, "source": config.Source.String(), "sensitive": config.Sensitive,
			}
		}
		return object{"configs": configs}, err
	})
}

func resourceConfigs(ctx context.Context, admin *kadm.Client, req request) (kadm.ResourceConfigs, error) {
	if req.ResourceType == "BROKER" {
		return admin.DescribeBrokerConfigs(ctx, brokerNumber(req))
	}
	return admin.DescribeTopicConfigs(ctx, req.Name)
}

func alterConfigs(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		configs := []kadm.AlterConfig{}
		for name, value := range req.Configs {
			configs = append(configs, kadm.AlterConfig{Name: name, Value: value})
		}
		return altered(admin.AlterTopicConfigsState(ctx, configs, req.Name))
	})
}

func incrementalAlterConfigs(ctx context.Context, req request) (object, error) {
	kinds := map[string]kadm.IncrementalOp{
		"SET": kadm.SetConfig, "DELETE": kadm.DeleteConfig,
		"APPEND": kadm.AppendConfig, "SUBTRACT": kadm.SubtractConfig,
	}
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		changes := []kadm.AlterConfig{}
		for _, change := range req.Changes {
			changes = append(changes, kadm.AlterConfig{Op: kinds[*change[0]], Name: *change[1], Value: change[2]})
		}
		if req.ResourceType == "BROKER" {
			return altered(admin.AlterBrokerConfigs(ctx, changes, brokerNumber(req)))
		}
		return altered(admin.AlterTopicConfigs(ctx, changes, req.Name))
	})
}

func altered(responses kadm.AlterConfigsResponses, err error) (object, error) {
	for _, response := range responses {
		if err == nil {
			err = response.Err
		}
	}
	return object{}, err
}

func describeCluster(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		metadata, err := admin.BrokerMetadata(ctx)
		brokers := object{}
		for _, broker := range metadata.Brokers {
			brokers[strconv.Itoa(int(broker.NodeID))] = fmt.Sprintf("%s:%d", broker.Host, broker.Port)
		}
		return object{
			"cluster_id": metadata.Cluster, "controller": metadata.Controller, "brokers": brokers,
		}, err
	})
}

func deleteRecords(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		before := kadm.Offsets{}
		before.AddOffset(req.Topic, req.Partition, req.Before, -1)
		responses, err := admin.DeleteRecords(ctx, before)
		if err != nil {
			return nil, err
		}
		deleted, _ := responses.Lookup(req.Topic, req.Partition)
		return object{"low_watermark": deleted.LowWatermark}, deleted.Err
	})
}

func listOffsets(ctx context.Context, req request) (object, error) {
	answer, err := offsetsAt(ctx, req, req.Timestamps)
	return object{"offsets": answer}, err
}

func offsetsAt(ctx context.Context, req request, timestamps []int64) ([]object, error) {
	client, err := connect(req)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	specials := map[int64]lister{
		-1: admin.ListEndOffsets, -2: admin.ListStartOffsets, -3: admin.ListMaxTimestampOffsets,
		-4: admin.ListLocalLogStartOffsets, -5: admin.ListLatestRemoteOffsets,
	}
	answer := []object{}
	for _, timestamp := range timestamps {
		list, special := specials[timestamp]
		if !special {
			list = func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
				return admin.ListOffsetsAfterMilli(ctx, timestamp, topics...)
			}
		}
		found, err := listed(ctx, list, req)
		if err != nil {
			return nil, err
		}
		answer = append(answer, object{"offset": found.Offset, "timestamp": found.Timestamp})
	}
	return answer, nil
}

func describeLogDirs(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		described, err := admin.DescribeBrokerLogDirs(ctx, req.Broker, nil)
		if err != nil {
			return nil, err
		}
		directories := []object{}
		for _, directory := range described.Sorted() {
			replicas := []object{}
			for _, p := range directory.Topics.Sorted() {
				replicas = append(replicas, object{
					"topic": p.Topic, "partition": p.Partition, "size": p.Size,
					"offset_lag": p.OffsetLag, "is_future": p.IsFuture,
				})
			}
			directories = append(directories, object{
				"path": directory.Dir, "total_bytes": directory.TotalBytes, "replicas": replicas,
			})
		}
		return object{"dirs": directories}, described.Error()
	})
}

func describeProducers(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		partitions := kadm.TopicsSet{}
		partitions.Add(req.Topic, req.Partition)
		described, err := admin.DescribeProducers(ctx, partitions)
		if err != nil {
			return nil, err
		}
		producers := []object{}
		for _, p := range described.SortedProducers() {
			producers = append(producers, object{
				"producer_id": p.ProducerID, "epoch": p.ProducerEpoch, "last_sequence": p.LastSequence,
				"last_timestamp": p.LastTimestamp, "coordinator_epoch": p.CoordinatorEpoch,
				"transaction_start": p.CurrentTxnStartOffset,
			})
		}
		return object{"producers": producers}, described[req.Topic].Partitions[req.Partition].Err
	})
}
