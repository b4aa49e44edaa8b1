// Runs the operations of the client conformance suite with kafkajs: one JSON request per input line, one JSON
// answer per output line, {"ok": ...} or {"error": {"code", "name", "message"}}.
'use strict'

const readline = require('node:readline')

const operations = Object.assign(
  {},
  ...['operations', 'members', 'groups', 'transactions'].map((name) => require(`./${name}.js`).operations)
)

// A retriable error comes wrapped, and a request about several topics fails with a list of errors.
function root(error) {
  if (error.errors && error.errors.length > 0) return root(error.errors[0])
  if (error.groups && error.groups.length > 0) return root(error.groups[0].error)
  if (error.code === undefined && error.cause) return root(error.cause)
  return error
}

function describe(error) {
  const { code, type, message } = root(error)
  return { code: typeof code === 'number' ? code : -1, name: type || error.name, message: `${message}` }
}

async function answer(line) {
  const request = JSON.parse(line)
  try {
    return { ok: await operations[request.operation](request) }
  } catch (error) {
    return { error: describe(error) }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(line)) + '\n')
  }
}

main()
