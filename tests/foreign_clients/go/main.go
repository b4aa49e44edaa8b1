// Runs the operations of the client conformance suite with franz-go: one JSON request per input line, one JSON
// answer per output line, {"ok": ...} or {"error": {"code", "name", "message"}}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	operationTimeout = 40 * time.Second
	readTimeout      = 30 * time.Second
)

// Bytes are base64 in JSON and null when absent, as []byte is.
type record struct {
	Key           []byte               `json:"key"`
	Value         []byte               `json:"value"`
	Headers       [][2]json.RawMessage `json:"headers"`
	Timestamp     *int64               `json:"timestamp"`
	TimestampType string               `json:"timestamp_type,omitempty"`
	Partition     *int32               `json:"partition"`
	Offset        int64                `json:"offset"`
}

type position struct {
	Kind string `json:"kind"`
	At   int64  `json:"at"`
}

type request struct {
	Operation         string             `json:"operation"`
	Bootstrap         string             `json:"bootstrap"`
	Topic             string             `json:"topic"`
	Partition         int32              `json:"partition"`
	Records           []record           `json:"records"`
	Codec             string             `json:"codec"`
	Acks              string             `json:"acks"`
	Idempotent        bool               `json:"idempotent"`
	AutoCreate        bool               `json:"auto_create"`
	Offset            int64              `json:"offset"`
	Assigned          []int32            `json:"assigned"`
	Count             int                `json:"count"`
	Positions         []position         `json:"positions"`
	Timestamps        []int64            `json:"timestamps"`
	Partitions        int32              `json:"partitions"`
	ReplicationFactor int16              `json:"replication_factor"`
	ValidateOnly      bool               `json:"validate_only"`
	Configs           map[string]*string `json:"configs"`
	Changes           [][3]*string       `json:"changes"`
	Total             int                `json:"total"`
	ResourceType      string             `json:"resource_type"`
	Name              string             `json:"name"`
	Before            int64              `json:"before"`
	Broker            int32              `json:"broker"`
	Number            int                `json:"number"`
	Seen              int                `json:"seen"`
	Group             string             `json:"group"`
	Topics            []string           `json:"topics"`
	Pattern           *string            `json:"pattern"`
	Protocol          string             `json:"protocol"`
	InstanceID        *string            `json:"instance_id"`
	Isolation         string             `json:"isolation"`
	Offsets           []committed        `json:"offsets"`
	States            []string           `json:"states"`
	Kinds             []string           `json:"kinds"`
	TransactionalID   string             `json:"transactional_id"`
	TimeoutMs         int                `json:"timeout_ms"`
	Target            string             `json:"target"`
	Commit            bool               `json:"commit"`
	MaxRecords        int                `json:"max_records"`
	How               string             `json:"how"`
	Places            []topicPartition   `json:"places"`
}

type object map[string]any

var operations = map[string]func(context.Context, request) (object, error){
	"produce":                   produce,
	"consume":                   consume,
	"consume_partitions":        consumePartitions,
	"seek":                      seek,
	"offsets":                   offsets,
	"partitions_of":             partitionsOf,
	"create_topic":              createTopic,
	"delete_topic":              deleteTopic,
	"create_partitions":         createPartitions,
	"list_topics":               listTopics,
	"describe_topic":            describeTopic,
	"describe_configs":          describeConfigs,
	"alter_configs":             alterConfigs,
	"incremental_alter_configs": incrementalAlterConfigs,
	"describe_cluster":          describeCluster,
	"delete_records":            deleteRecords,
	"list_offsets":              listOffsets,
	"describe_log_dirs":         describeLogDirs,
	"describe_producers":        describeProducers,
	"member_open":               memberOpen,
	"member_state":              memberState,
	"member_commit":             memberCommit,
	"member_committed":          memberCommitted,
	"member_close":              memberClose,
	"transaction_open":          transactionOpen,
	"transaction_begin":         transactionBegin,
	"transaction_send":          transactionSend,
	"transaction_commit":        transactionCommit,
	"transaction_abort":         transactionAbort,
	"transaction_close":         transactionClose,
	"transform":                 transform,
	"share_open":                shareOpen,
	"share_poll":                sharePoll,
	"share_acknowledge":         shareAcknowledge,
	"share_commit":              shareCommit,
	"share_close":               shareClose,
	"list_groups":               listGroups,
	"describe_group":            describeGroup,
	"describe_share_group":      describeShareGroup,
	"delete_group":              deleteGroup,
	"delete_share_group":        deleteGroup,
	"group_offsets":             groupOffsets,
	"alter_group_offsets":       alterGroupOffsets,
	"delete_group_offsets":      deleteGroupOffsets,
	"remove_static_member":      removeStaticMember,
	"describe_transaction":      describeTransaction,
	"list_transactions":         listTransactions,
}

func main() {
	requests := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		if err := answers.Encode(answer(line)); err != nil {
			return
		}
	}
}

func answer(line []byte) object {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return object{"error": describe(err)}
	}
	run, known := operations[req.Operation]
	if !known {
		return object{"error": describe(fmt.Errorf("unknown operation %q", req.Operation))}
	}
	ctx, cancel := context.WithTimeout(context.Background(), operationTimeout)
	defer cancel()
	result, err := run(ctx, req)
	if err != nil {
		return object{"error": describe(err)}
	}
	return object{"ok": result}
}

func describe(err error) object {
	var broker *kerr.Error
	if errors.As(err, &broker) {
		return object{"code": broker.Code, "name": broker.Message, "message": err.Error()}
	}
	return object{"code": -1, "name": "CLIENT", "message": err.Error()}
}

func connect(req request, options ...kgo.Opt) (*kgo.Client, error) {
	options = append(options, kgo.SeedBrokers(req.Bootstrap), kgo.RetryTimeout(20*time.Second))
	return kgo.NewClient(options...)
}
