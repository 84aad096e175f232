// An MCP server over stdio: JSON-RPC, one message per line, no dependency. It answers from a table, so that a test of it is the
// same every day.
import { createInterface } from 'node:readline'

const table = {
  oslo: { day: 'light snow', lowC: -4, highC: 1, windKmh: 12 },
  lisbon: { day: 'sunny', lowC: 11, highC: 19, windKmh: 15 },
  nairobi: { day: 'showers in the afternoon', lowC: 14, highC: 25, windKmh: 9 },
  wellington: { day: 'overcast', lowC: 12, highC: 16, windKmh: 48 },
}

const tools = [
  {
    name: 'forecast',
    description: `Tomorrow's weather in one city: ${cities()}.`,
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city, in English.' } },
      required: ['city'],
    },
    run({ city }) {
      const found = table[String(city).toLowerCase()]
      if (found === undefined) throw new Error(`No forecast for ${city}. Cities: ${cities()}.`)
      return `${city}: ${found.day}, ${found.lowC} to ${found.highC} °C, wind ${found.windKmh} km/h.`
    },
  },
  {
    name: 'cities',
    description: 'The cities there is a forecast for.',
    inputSchema: { type: 'object', properties: {} },
    run: () => cities(),
  },
]

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  const answer = answerTo(read(line))
  if (answer !== null) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...answer })}\n`)
}

function read(line) {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** null for a notification: it wants no answer. */
function answerTo(message) {
  if (message === null) return { id: null, error: { code: -32700, message: 'not JSON' } }
  const { id, method, params = {} } = message
  if (id === undefined) return null
  switch (method) {
    case 'initialize':
      return {
        id,
        result: {
          protocolVersion: params.protocolVersion ?? '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'almanac', version: '1.0.0' },
        },
      }
    case 'ping':
      return { id, result: {} }
    case 'tools/list':
      return { id, result: { tools: tools.map(({ run: _, ...tool }) => tool) } }
    case 'tools/call':
      return { id, ...called(params) }
    default:
      return { id, error: { code: -32601, message: `no method ${method}` } }
  }
}

function called({ name, arguments: input = {} }) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool === undefined) return { error: { code: -32602, message: `no tool ${name}` } }
  try {
    return { result: { content: [{ type: 'text', text: tool.run(input) }] } }
  } catch (error) {
    // What the model can mend is a result; what it cannot is an error of the protocol.
    return { result: { content: [{ type: 'text', text: error.message }], isError: true } }
  }
}

function cities() {
  return Object.keys(table)
    .map((city) => city[0].toUpperCase() + city.slice(1))
    .join(', ')
}
