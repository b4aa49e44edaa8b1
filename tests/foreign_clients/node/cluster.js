'use strict'

const { Kafka, logLevel } = require('kafkajs')

// Bytes travel as base64, absent bytes as null.
exports.bytes = (text) => (text === null || text === undefined ? null : Buffer.from(text, 'base64'))
exports.encoded = (data) => (data === null || data === undefined ? null : data.toString('base64'))

exports.cluster = function cluster(request) {
  const retry = { retries: 5, initialRetryTime: 50 }
  return new Kafka({ clientId: 'conformance', brokers: [request.bootstrap], logLevel: logLevel.NOTHING, retry })
}
