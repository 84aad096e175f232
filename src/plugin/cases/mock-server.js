const { tools, brokenExpectation } = JSON.parse(process.env.GANTRY_MOCK)
const at = (value, path) =>
  path.split('.').reduce((inner, key) => (inner == null ? undefined : inner[key]), value)
const kind = (value) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)
const types = ['string', 'number', 'boolean', 'array', 'object', 'null']
const fits = (value, wanted) => {
  if (Array.isArray(wanted)) return wanted.some((one) => one === value)
  if (wanted === 'integer') return Number.isInteger(value)
  if (types.includes(wanted)) return kind(value) === wanted
  const pattern = typeof wanted === 'string' ? /^\/(.*)\/([a-z]*)$/s.exec(wanted) : null
  return pattern === null
    ? value === wanted
    : typeof value === 'string' && new RegExp(pattern[1], pattern[2]).test(value)
}
const call = ({ name, arguments: input = {} }) => {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) return { isError: true, text: `there is no mock of ${name}` }
  const wrong = Object.entries(tool.expect).find(([path, wanted]) => !fits(at(input, path), wanted))
  if (wrong !== undefined)
    return {
      isError: true,
      text: `${brokenExpectation + wrong[0]} must be ${JSON.stringify(wrong[1])}, not ${JSON.stringify(at(input, wrong[0]))}`,
    }
  const text = tool.text.replaceAll(/\{\{input\.([^}]+)\}\}/g, (_, path) => {
    const value = at(input, path)
    return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  })
  return { isError: tool.is_error, text }
}
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'mock', version: '1' },
  }),
  'tools/list': () => ({
    tools: tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      inputSchema: input_schema,
    })),
  }),
  'tools/call': (params) => {
    const { text, isError } = call(params)
    return { content: [{ type: 'text', text }], ...(isError && { isError }) }
  },
}
require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line.trim() === '') return
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const result = answers[method] === undefined ? {} : answers[method](params ?? {})
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  })
