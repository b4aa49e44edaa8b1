package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
)

func listGroups(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		listed, err := admin.ListGroupsByType(ctx, req.Kinds, req.States...)
		groups := []object{}
		for _, group := range listed.Sorted() { // it does not say of which type a group is
			groups = append(groups, object{
				"group": group.Group, "protocol_type": group.ProtocolType, "state": group.State, "kind": nil,
			})
		}
		return object{"groups": groups}, err
	})
}

// describeGroup asks about a group of the consumer protocol first, as the library has one call for each type.
func describeGroup(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		described, err := admin.DescribeConsumerGroups(ctx, req.Group)
		if err != nil || described[req.Group].Err != nil {
			return describeClassicGroup(ctx, admin, req.Group)
		}
		group, members := described[req.Group], []object{}
		for _, m := range group.Members {
			members = append(members, object{
				"member_id": m.MemberID, "instance_id": m.InstanceID, "client_id": m.ClientID, "host": m.ClientHost,
				"assignment": fromTopics(m.Assignment),
			})
		}
		return object{
			"state": group.State, "kind": "consumer", "assignor": group.AssignorName, "members": members,
		}, nil
	})
}

func describeClassicGroup(ctx context.Context, admin *kadm.Client, name string) (object, error) {
	described, err := admin.DescribeGroups(ctx, name)
	if err != nil {
		return nil, err
	}
	group, members := described[name], []object{}
	for _, m := range group.Members {
		assigned := kadm.TopicsSet{}
		if consumer, ok := m.Assigned.AsConsumer(); ok {
			for _, topic := range consumer.Topics {
				assigned.Add(topic.Topic, topic.Partitions...)
			}
		}
		members = append(members, object{
			"member_id": m.MemberID, "instance_id": m.InstanceID, "client_id": m.ClientID, "host": m.ClientHost,
			"assignment": fromTopics(assigned),
		})
	}
	return object{
		"state": group.State, "kind": "classic", "assignor": group.Protocol, "members": members,
	}, group.Err
}

func describeShareGroup(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		described, err := admin.DescribeShareGroups(ctx, req.Group)
		if err != nil {
			return nil, err
		}
		group, members := described[req.Group], []object{}
		for _, m := range group.Members {
			members = append(members, object{
				"member_id": m.MemberID, "instance_id": nil, "client_id": m.ClientID, "host": m.ClientHost,
				"assignment": fromTopics(m.Assignment),
			})
		}
		return object{
			"state": group.GroupState, "kind": "share", "assignor": group.Assignor, "members": members,
		}, group.Err
	})
}

func deleteGroup(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		response, err := admin.DeleteGroup(ctx, req.Group)
		if err == nil {
			err = response.Err
		}
		return object{}, err
	})
}

func groupOffsets(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		found, err := admin.FetchOffsets(ctx, req.Group)
		if err == nil {
			err = found.Error()
		}
		return fromOffsets(found, nil), err
	})
}

func alterGroupOffsets(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		return object{}, admin.CommitAllOffsets(ctx, req.Group, toOffsets(req.Offsets))
	})
}

func deleteGroupOffsets(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		responses, err := admin.DeleteOffsets(ctx, req.Group, toTopics(req.Places))
		if err == nil {
			err = responses.Error()
		}
		return object{}, err
	})
}

func removeStaticMember(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		responses, err := admin.LeaveGroup(ctx, kadm.LeaveGroup(req.Group).InstanceIDs(*req.InstanceID))
		if err == nil {
			err = responses[*req.InstanceID].Err
		}
		return object{}, err
	})
}

func describeTransaction(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		described, err := admin.DescribeTransactions(ctx, req.TransactionalID)
		if err != nil {
			return nil, err
		}
		found := described[req.TransactionalID]
		return object{
			"state": found.State, "producer_id": found.ProducerID, "producer_epoch": found.ProducerEpoch,
			"timeout_ms": found.TimeoutMillis, "partitions": fromTopics(found.Topics),
		}, found.Err
	})
}

func listTransactions(ctx context.Context, req request) (object, error) {
	return withAdmin(req, func(admin *kadm.Client) (object, error) {
		listed, err := admin.ListTransactions(ctx, nil, nil)
		states := map[string]string{}
		for id, found := range listed {
			states[id] = found.State
		}
		return object{"transactions": states}, err
	})
}
