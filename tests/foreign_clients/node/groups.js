'use strict'

const { AssignerProtocol } = require('kafkajs')
const { committed } = require('./members.js')
const { withAdmin } = require('./operations.js')

async function listGroups(admin) {
  const { groups } = await admin.listGroups()
  const listed = groups.map(({ groupId, protocolType }) => ({
    group: groupId,
    protocol_type: protocolType,
    state: null,
    kind: null,
  }))
  return { groups: listed }
}

function places(assignment) {
  const decoded = assignment.length === 0 ? null : AssignerProtocol.MemberAssignment.decode(assignment)
  return Object.entries(decoded ? decoded.assignment : {}).flatMap(([topic, partitions]) =>
    partitions.map((partition) => [topic, partition])
  )
}

async function describeGroup(admin, request) {
  const { groups } = await admin.describeGroups([request.group])
  const members = groups[0].members.map(({ memberId, clientId, clientHost, memberAssignment }) => ({
    member_id: memberId,
    instance_id: null,
    client_id: clientId,
    host: clientHost,
    assignment: places(memberAssignment),
  }))
  return { state: groups[0].state, kind: null, assignor: groups[0].protocol, members }
}

async function deleteGroup(admin, request) {
  await admin.deleteGroups([request.group])
  return {}
}

async function groupOffsets(admin, request) {
  return { offsets: await committed(admin, request.group) }
}

async function alterGroupOffsets(admin, request) {
  for (const [topic, partition, offset, metadata] of request.offsets) {
    const partitions = [{ partition, offset: String(offset), metadata }]
    await admin.setOffsets({ groupId: request.group, topic, partitions })
  }
  return {}
}

exports.operations = {
  list_groups: withAdmin(listGroups),
  describe_group: withAdmin(describeGroup),
  delete_group: withAdmin(deleteGroup),
  group_offsets: withAdmin(groupOffsets),
  alter_group_offsets: withAdmin(alterGroupOffsets),
}
