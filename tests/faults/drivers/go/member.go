package main

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
)

func runMember(ctx context.Context, told settings) {
	journal := openJournal(told)
	// The assignment stays as it is from a poll to the commit of what it brought.
	client, err := kgo.NewClient(append(groupOptions(told, journal), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		fail(err)
	}
	for ctx.Err() == nil {
		process(client, journal)
		client.AllowRebalance()
	}
	client.CloseAllowingRebalance()
	journal.note("closed")
}

func process(client *kgo.Client, journal *journal) {
	records := poll(client.PollRecords, journal)
	if len(records) == 0 {
		return
	}
	journal.noteRecords(records)
	if err := client.CommitRecords(context.Background(), records...); err != nil {
		journal.note("commit-failed", err)
	}
}

func poll(pollRecords func(context.Context, int) kgo.Fetches, journal *journal) []*kgo.Record {
	ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
	defer cancel()
	fetches := pollRecords(ctx, recordsPerBatch)
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			journal.note("error", err)
		}
	})
	return fetches.Records()
}
