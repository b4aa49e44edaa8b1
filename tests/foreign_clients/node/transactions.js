'use strict'

const { cluster } = require('./cluster.js')
const { groupOf } = require('./members.js')
const { message } = require('./operations.js')

// Transactional producers that stay open between requests, each with the transaction that it is in.
const open = new Map()
let opened = 0

// The library asks for its producer id when it begins: only then it is the newest one.
async function transactionOpen(request) {
  const producer = cluster(request).producer({
    transactionalId: request.transactional_id,
    transactionTimeout: request.timeout_ms,
    maxInFlightRequests: 1,
    idempotent: true,
  })
  await producer.connect()
  open.set(++opened, { producer, transaction: await producer.transaction(), fresh: true })
  return { number: opened }
}

async function begin({ number }) {
  const session = open.get(number)
  if (!session.fresh) session.transaction = await session.producer.transaction()
  session.fresh = false
  return {}
}

// The markers of the last transaction may still be under way: the library leaves it to the application to try again.
async function patiently(run) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (error.type !== 'CONCURRENT_TRANSACTIONS' || attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function send({ number, topic, records }) {
  const { transaction } = open.get(number)
  await patiently(() => transaction.send({ topic, acks: -1, messages: records.map(message) }))
  return {}
}

async function sendOffsets({ number, offsets, member }) {
  const topics = offsets.map(([topic, partition, offset, metadata]) => ({
    topic,
    partitions: [{ partition, offset: String(offset), metadata }],
  }))
  const { transaction } = open.get(number)
  await patiently(() => transaction.sendOffsets({ consumerGroupId: groupOf(member), topics }))
  return {}
}

async function commit({ number }) {
  await open.get(number).transaction.commit()
  return {}
}

async function abort({ number }) {
  await open.get(number).transaction.abort()
  return {}
}

async function close({ number }) {
  await open.get(number).producer.disconnect()
  open.delete(number)
  return {}
}

exports.operations = {
  transaction_open: transactionOpen,
  transaction_begin: begin,
  transaction_send: send,
  transaction_send_offsets: sendOffsets,
  transaction_commit: commit,
  transaction_abort: abort,
  transaction_close: close,
}
