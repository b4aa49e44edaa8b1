'use strict'

const { CompressionTypes, ConfigResourceTypes } = require('kafkajs')
const { bytes, cluster } = require('./cluster.js')

const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }
const ACKS = { 0: 0, 1: 1, all: -1 }

async function connected(client, run) {
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.disconnect()
  }
}

const withAdmin = (run) => (request) => connected(cluster(request).admin(), (admin) => run(admin, request))

// A header that occurs twice is one name with a list of values.
function headers(pairs) {
  const grouped = {}
  for (const [name, value] of pairs || []) {
    grouped[name] = name in grouped ? [].concat(grouped[name], bytes(value)) : bytes(value)
  }
  return grouped
}

function message(record) {
  const made = { key: bytes(record.key), value: bytes(record.value), headers: headers(record.headers) }
  if (record.timestamp !== null && record.timestamp !== undefined) made.timestamp = String(record.timestamp)
  if (record.partition !== null && record.partition !== undefined) made.partition = record.partition
  return made
}

async function produce(request) {
  const settings = { idempotent: request.idempotent, allowAutoTopicCreation: request.auto_create }
  if (request.idempotent) settings.maxInFlightRequests = 1
  const answers = await connected(cluster(request).producer(settings), (producer) =>
    producer.send({
      topic: request.topic,
      acks: ACKS[request.acks],
      compression: CODECS[request.codec],
      messages: request.records.map(message),
    })
  )
  return { sent: request.acks === '0' ? [] : sent(request.records, answers) }
}

// kafkajs reports the base offset of each partition's batch; the records of a partition keep their order.
function sent(records, answers) {
  const next = new Map(answers.map((a) => [a.partition, Number(a.baseOffset)]))
  const only = answers.length === 1 ? answers[0].partition : null
  return records.map((record) => {
    const partition = only === null ? record.partition : only
    const offset = next.get(partition)
    next.set(partition, offset + 1)
    return { partition, offset, timestamp: -1 }
  })
}

async function createTopic(admin, request) {
  const configEntries = Object.entries(request.configs || {}).map(([name, value]) => ({ name, value }))
  const topic = {
    topic: request.topic,
    numPartitions: request.partitions,
    replicationFactor: request.replication_factor,
    configEntries,
  }
  const validateOnly = Boolean(request.validate_only)
  const created = await admin.createTopics({ topics: [topic], validateOnly, waitForLeaders: !validateOnly })
  // kafkajs answers false, not an error, for a topic that exists
  if (!created) throw Object.assign(new Error('the topic exists'), { code: 36, type: 'TOPIC_ALREADY_EXISTS' })
  return {}
}

async function deleteTopic(admin, request) {
  await admin.deleteTopics({ topics: [request.topic] })
  return {}
}

async function createPartitions(admin, request) {
  await admin.createPartitions({ topicPartitions: [{ topic: request.topic, count: request.total }] })
  return {}
}

async function listTopics(admin) {
  return { topics: await admin.listTopics() }
}

async function describeTopic(admin, request) {
  const { topics } = await admin.fetchTopicMetadata({ topics: [request.topic] })
  const partitions = topics[0].partitions.map(({ partitionId, leader, replicas, isr }) => ({
    partition: partitionId,
    leader,
    replicas,
    isr,
  }))
  return { partitions: partitions.sort((a, b) => a.partition - b.partition) }
}

const resource = ({ resource_type: type, name }) => ({ type: ConfigResourceTypes[type], name })

// The library's own names are not Kafka's.
const SOURCES = [
  'UNKNOWN',
  'DYNAMIC_TOPIC_CONFIG',
  'DYNAMIC_BROKER_CONFIG',
  'DYNAMIC_DEFAULT_BROKER_CONFIG',
  'STATIC_BROKER_CONFIG',
  'DEFAULT_CONFIG',
]

async function describeConfigs(admin, request) {
  const answer = await admin.describeConfigs({ includeSynonyms: true, resources: [resource(request)] })
  const entries = answer.resources[0].configEntries.map((entry) => [
    entry.configName,
    {
      value: entry.configValue,
      source: SOURCES[entry.configSource],
      read_only: entry.readOnly,
      sensitive: entry.isSensitive,
    },
  ])
  return { configs: Object.fromEntries(entries) }
}

async function alterConfigs(admin, request) {
  const configEntries = Object.entries(request.configs).map(([name, value]) => ({ name, value }))
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource(request), configEntries }] })
  return {}
}

async function describeCluster(admin) {
  const { clusterId, controller, brokers } = await admin.describeCluster()
  const addresses = brokers.map(({ nodeId, host, port }) => [String(nodeId), `${host}:${port}`])
  return { cluster_id: clusterId, controller, brokers: Object.fromEntries(addresses) }
}

async function deleteRecords(admin, request) {
  const partitions = [{ partition: request.partition, offset: String(request.before) }]
  await offsetsOf(admin, request) // the library needs the topic's metadata and does not fetch it here
  await admin.deleteTopicRecords({ topic: request.topic, partitions })
  const [found] = await offsetsOf(admin, request)
  return { low_watermark: Number(found.low) }
}

const offsetsOf = async (admin, request) =>
  (await admin.fetchTopicOffsets(request.topic)).filter(({ partition }) => partition === request.partition)

async function offsets(admin, request) {
  const [found] = await offsetsOf(admin, request)
  const forTimes = []
  for (const timestamp of request.timestamps) {
    const all = await admin.fetchTopicOffsetsByTimestamp(request.topic, timestamp)
    const { offset } = all.find(({ partition }) => partition === request.partition)
    forTimes.push({ offset: Number(offset), timestamp: null })
  }
  return { beginning: Number(found.low), end: Number(found.high), for_times: forTimes }
}

exports.message = message
exports.withAdmin = withAdmin
exports.operations = {
  produce,
  offsets: withAdmin(offsets),
  create_topic: withAdmin(createTopic),
  delete_topic: withAdmin(deleteTopic),
  create_partitions: withAdmin(createPartitions),
  list_topics: withAdmin(listTopics),
  describe_topic: withAdmin(describeTopic),
  describe_configs: withAdmin(describeConfigs),
  alter_configs: withAdmin(alterConfigs),
  describe_cluster: withAdmin(describeCluster),
  delete_records: withAdmin(deleteRecords),
}
