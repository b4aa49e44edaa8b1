// A member of a group on kafkajs: `node main.js '{settings}'`. It knows the classic protocol only.
'use strict'

const fs = require('node:fs')
const { Kafka, logLevel } = require('kafkajs')
const { rangeAssigner } = require('./range.js')

process.on('SIGTERM', () => leave())

const told = JSON.parse(process.argv[2])
const records = fs.openSync(told.records, 'a')
const events = fs.openSync(told.events, 'a')

const note = (...words) => fs.writeSync(events, words.join(' ').replace(/\n/g, ' ') + '\n')

// The library gives up after some retries, and restarts the consumer if the error may pass. Here it always may.
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 20, restartOnFailure: async () => true }
const kafka = new Kafka({ brokers: [told.bootstrap], logLevel: logLevel.WARN, retry })

const consumer = kafka.consumer({
  groupId: told.group,
  sessionTimeout: told.session_timeout_ms,
  rebalanceTimeout: told.max_poll_interval_ms,
  heartbeatInterval: told.heartbeat_interval_ms,
  maxWaitTimeInMs: 100,
  partitionAssigners: [rangeAssigner],
  retry,
})

consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  const owned = payload.memberAssignment[told.topic] || []
  note('owns', -1, ...[...owned].sort((a, b) => a - b))
})
consumer.on(consumer.events.REBALANCING, () => note('owns', -1))
consumer.on(consumer.events.CRASH, ({ payload }) => note('error', payload.error))

async function eachBatch({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
  if (!isRunning() || isStale()) return
  const lines = batch.messages.map(({ offset, value }) => {
    return `${batch.partition} ${offset} ${value.toString().split(' ', 1)[0]}\n`
  })
  fs.writeSync(records, lines.join(''))
  const offset = String(BigInt(batch.lastOffset()) + 1n)
  try {
    await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset }])
  } catch (error) {
    note('commit-failed', error)
    throw error // the library learns of a rebalance from it
  }
  resolveOffset(batch.lastOffset())
  await heartbeat()
}

async function leave() {
  await consumer.disconnect()
  note('closed')
  process.exit(0)
}

async function main() {
  await consumer.connect()
  await consumer.subscribe({ topic: told.topic, fromBeginning: true })
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
}

main().catch((error) => {
  note('error', error)
  process.exit(1)
})
