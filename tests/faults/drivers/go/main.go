// A member of a group, or a transactional processor, on franz-go: `program member|processor '{settings}'`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	pollTimeout     = 200 * time.Millisecond
	recordsPerBatch = 100
)

type settings struct {
	Bootstrap            string  `json:"bootstrap"`
	Group                string  `json:"group"`
	Topic                string  `json:"topic"`
	Records              string  `json:"records"`
	Events               string  `json:"events"`
	Protocol             string  `json:"protocol"`
	Assignor             string  `json:"assignor"`
	InstanceID           *string `json:"instance_id"`
	SessionTimeoutMs     int     `json:"session_timeout_ms"`
	HeartbeatIntervalMs  int     `json:"heartbeat_interval_ms"`
	MaxPollIntervalMs    int     `json:"max_poll_interval_ms"`
	Output               string  `json:"output"`
	TransactionalID      string  `json:"transactional_id"`
	TransactionTimeoutMs int     `json:"transaction_timeout_ms"`
}

func milliseconds(count int) time.Duration {
	return time.Duration(count) * time.Millisecond
}

// Of the group, for members and processors alike.
func groupOptions(told settings, journal *journal) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(told.Bootstrap),
		kgo.ConsumerGroup(told.Group),
		kgo.ConsumeTopics(told.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(milliseconds(told.SessionTimeoutMs)),
		kgo.RebalanceTimeout(milliseconds(told.MaxPollIntervalMs)),
		kgo.HeartbeatInterval(milliseconds(told.HeartbeatIntervalMs)),
		kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(journal.onAssigned),
		kgo.OnPartitionsRevoked(journal.onRevoked),
		kgo.OnPartitionsLost(journal.onRevoked),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelWarn, nil)),
	}
	if told.InstanceID != nil {
		options = append(options, kgo.InstanceID(*told.InstanceID))
	}
	if told.Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	return append(options, kgo.Balancers(balancer(told.Assignor)))
}

func balancer(assignor string) kgo.GroupBalancer {
	switch assignor {
	case "range":
		return kgo.RangeBalancer()
	case "uniform": // the name that the server has for what this client calls sticky
		return kgo.StickyBalancer()
	default:
		return kgo.CooperativeStickyBalancer()
	}
}

func main() {
	var told settings
	if err := json.Unmarshal([]byte(os.Args[2]), &told); err != nil {
		fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if os.Args[1] == "processor" {
		runProcessor(ctx, told)
	} else {
		runMember(ctx, told)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
