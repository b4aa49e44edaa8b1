// The range assignor under the name that the other clients have for it: kafkajs has none of its own.
'use strict'

const {
  AssignerProtocol: { MemberMetadata, MemberAssignment },
} = require('kafkajs')

function assignTopic(partitions, members) {
  const share = Math.floor(partitions.length / members.length)
  const larger = partitions.length % members.length
  let next = 0
  return members.map((_, index) => {
    const first = next
    next += share + (index < larger ? 1 : 0)
    return partitions.slice(first, next)
  })
}

const rangeAssigner = ({ cluster }) => ({
  name: 'range',
  version: 0,

  async assign({ members, topics }) {
    const ids = members.map(({ memberId }) => memberId).sort()
    const assignments = ids.map(() => ({}))
    for (const topic of topics) {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
      const shares = assignTopic(partitions.sort((a, b) => a - b), ids)
      shares.forEach((share, index) => (assignments[index][topic] = share))
    }
    return ids.map((memberId, index) => ({
      memberId,
      memberAssignment: MemberAssignment.encode({ version: 0, assignment: assignments[index] }),
    }))
  },

  protocol({ topics }) {
    return { name: 'range', metadata: MemberMetadata.encode({ version: 0, topics }) }
  },
})

module.exports = { rangeAssigner }
