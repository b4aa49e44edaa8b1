'use strict'

const { cluster, encoded } = require('./cluster.js')

// Members that stay open between requests; the library reads on in the background.
const open = new Map()
let opened = 0

// The library has gathered the values of a header that occurs twice under one name.
function pairs(headers) {
  const flat = []
  for (const [name, value] of Object.entries(headers || {})) {
    for (const one of Array.isArray(value) ? value : [value]) flat.push([name, encoded(one)])
  }
  return flat
}

const seen = (partition, message) => ({
  key: encoded(message.key),
  value: encoded(message.value),
  headers: pairs(message.headers),
  timestamp: Number(message.timestamp),
  timestamp_type: null,
  partition,
  offset: Number(message.offset),
})

class Member {
  constructor(request) {
    this.group = request.group
    this.assignment = []
    this.rebalances = 0
    this.revoked = []
    this.records = []
    this.failure = null
    this.consumer = cluster(request).consumer({
      groupId: request.group,
      sessionTimeout: 30000,
      heartbeatInterval: 300,
      metadataMaxAge: 1000,
      maxWaitTimeInMs: 200,
      readUncommitted: request.isolation !== 'read_committed',
      retry: { retries: 10, initialRetryTime: 50 },
    })
    this.admin = cluster(request).admin()
  }

  async start(request) {
    const { GROUP_JOIN, CRASH } = this.consumer.events
    this.consumer.on(GROUP_JOIN, ({ payload }) => this.joined(payload.memberAssignment))
    this.consumer.on(CRASH, ({ payload }) => this.crashed(payload))
    await this.consumer.connect()
    const topics = request.pattern === null ? request.topics : [new RegExp(request.pattern)]
    await this.consumer.subscribe({ topics, fromBeginning: true })
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => void this.records.push(seen(partition, message)),
    })
  }

  // Eager: what it had it has given up.
  joined(assignment) {
    this.rebalances += 1
    this.revoked = this.revoked.concat(this.assignment)
    this.assignment = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => [topic, partition])
    )
  }

  // From some failures the library starts again by itself.
  crashed({ error, restart }) {
    if (!restart) this.failure = error
  }

  state(from) {
    if (this.failure) throw this.failure
    const { assignment, rebalances, revoked } = this
    return { assignment, rebalances, revoked, records: this.records.slice(from) }
  }

  async close() {
    await this.consumer.disconnect()
  }
}

async function memberOpen(request) {
  const member = new Member(request)
  await member.start(request)
  open.set(++opened, member)
  return { number: opened }
}

const memberState = async ({ number, seen: from }) => open.get(number).state(from)

async function memberCommit({ number, offsets }) {
  const wanted = offsets.map(([topic, partition, offset, metadata]) => ({
    topic,
    partition,
    offset: String(offset),
    metadata,
  }))
  await open.get(number).consumer.commitOffsets(wanted)
  return {}
}

// A member of this library cannot ask; an administrator can.
async function memberCommitted({ number, places }) {
  const { admin, group } = open.get(number)
  await admin.connect()
  try {
    return { offsets: await committed(admin, group, places) }
  } finally {
    await admin.disconnect()
  }
}

async function committed(admin, groupId, places) {
  const topics = places && [...new Set(places.map(([topic]) => topic))]
  const found = await admin.fetchOffsets(topics ? { groupId, topics } : { groupId })
  const wanted = (topic, partition) => !places || places.some(([t, p]) => t === topic && p === partition)
  return found.flatMap(({ topic, partitions }) =>
    partitions
      .filter(({ partition, offset }) => Number(offset) >= 0 && wanted(topic, partition))
      .map(({ partition, offset, metadata }) => [topic, partition, Number(offset), metadata])
  )
}

async function memberClose({ number }) {
  await open.get(number).close()
  open.delete(number)
  return {}
}

// The library reads only as a member of a group, so each reading gets a group of its own.
async function consume(request) {
  const group = `reading-${request.topic}-${++opened}-${process.pid}`
  const member = new Member({ ...request, group })
  const deadline = Date.now() + 30000
  const wanted = () =>
    member.records.filter((r) => r.partition === request.partition && r.offset >= request.offset)
  try {
    await member.start({ ...request, topics: [request.topic], pattern: null })
    while (wanted().length < request.count && Date.now() < deadline && !member.failure) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  } finally {
    await member.close()
  }
  if (member.failure) throw member.failure
  return { records: wanted().slice(0, request.count) }
}

exports.committed = committed
exports.groupOf = (number) => open.get(number).group
exports.operations = {
  consume,
  member_open: memberOpen,
  member_state: memberState,
  member_commit: memberCommit,
  member_committed: memberCommitted,
  member_close: memberClose,
}
