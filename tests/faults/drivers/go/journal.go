package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Lines that are with the kernel before the next step is taken.
type journal struct {
	sync.Mutex
	records *bufio.Writer
	events  *os.File
	owned   map[int32]bool
}

func openJournal(told settings) *journal {
	return &journal{
		records: bufio.NewWriter(openToAppend(told.Records)),
		events:  openToAppend(told.Events),
		owned:   map[int32]bool{},
	}
}

func openToAppend(path string) *os.File {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		fail(err)
	}
	return file
}

func (j *journal) note(kind string, details ...any) {
	line := strings.TrimSpace(kind + " " + strings.ReplaceAll(fmt.Sprint(details...), "\n", " "))
	if _, err := fmt.Fprintln(j.events, line); err != nil {
		fail(err)
	}
}

func (j *journal) noteRecords(records []*kgo.Record) {
	j.Lock()
	defer j.Unlock()
	for _, record := range records {
		fmt.Fprintln(j.records, record.Partition, record.Offset, numberIn(record.Value))
	}
	j.flush()
}

func (j *journal) flush() {
	if err := j.records.Flush(); err != nil {
		fail(err)
	}
}

func numberIn(value []byte) int {
	text, _, _ := bytes.Cut(value, []byte(" "))
	number, err := strconv.Atoi(string(text))
	if err != nil {
		fail(err)
	}
	return number
}

// What is owned: the client tells of changes only.

func (j *journal) onAssigned(_ context.Context, client *kgo.Client, assigned map[string][]int32) {
	j.change(client, assigned, true)
}

func (j *journal) onRevoked(_ context.Context, client *kgo.Client, revoked map[string][]int32) {
	j.change(client, revoked, false)
}

func (j *journal) change(client *kgo.Client, changed map[string][]int32, owned bool) {
	j.Lock()
	defer j.Unlock()
	for _, partitions := range changed {
		for _, partition := range partitions {
			if owned {
				j.owned[partition] = true
			} else {
				delete(j.owned, partition)
			}
		}
	}
	j.noteOwned(client)
}

func (j *journal) noteOwned(client *kgo.Client) {
	partitions := []int32{}
	for partition := range j.owned {
		partitions = append(partitions, partition)
	}
	slices.Sort(partitions)
	_, generation := client.GroupMetadata()
	owned := strings.Trim(fmt.Sprint(partitions), "[]")
	j.note("owns", generation, " ", owned)
	fmt.Fprintln(j.records, "owns", owned)
	j.flush()
}
