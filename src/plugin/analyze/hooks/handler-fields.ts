import { asObject, asStrings, type JsonObject } from '../../../core/json-fields.ts'

const handlerTypes = ['command', 'http', 'mcp_tool', 'prompt', 'agent'] as const
export type HandlerType = (typeof handlerTypes)[number]

type Check = (value: unknown) => string | null

const text: Check = (value) => (typeof value === 'string' ? null : 'must be a text')
const truth: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false')
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? null : 'must be a list of texts'
const object: Check = (value) => (asObject(value) === null ? 'must be an object' : null)
const address: Check = (value) =>
  typeof value === 'string' && URL.canParse(value) ? null : 'must be an address such as https://example.com'
const seconds: Check = (value) =>
  typeof value === 'number' && value > 0 ? null : 'must be a number of seconds above 0'
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    words.some((word) => word === value) ? null : `must be one of ${words.join(', ')}`

const common: Readonly<Record<string, Check>> = {
  type: text,
  if: text,
  timeout: seconds,
  statusMessage: text,
  once: truth,
}

const own: Readonly<Record<HandlerType, Readonly<Record<string, Check>>>> = {
  command: {
    command: text,
    args: texts,
    async: truth,
    asyncRewake: truth,
    rewakeMessage: text,
    rewakeSummary: text,
    shell: oneOf('bash', 'powershell'),
    onFailure: oneOf('continue', 'block'),
  },
  http: { url: address, headers: object, allowedEnvVars: texts, onFailure: oneOf('continue', 'block') },
  mcp_tool: { server: text, tool: text, input: object },
  prompt: { prompt: text, model: text, continueOnBlock: truth },
  agent: { prompt: text, model: text },
}

const required: Readonly<Record<HandlerType, readonly string[]>> = {
  command: ['command'],
  http: ['url'],
  mcp_tool: ['server', 'tool'],
  prompt: ['prompt'],
  agent: ['prompt'],
}

export function isHandlerType(value: unknown): value is HandlerType {
  return handlerTypes.some((type) => type === value)
}

/** Why Claude Code does not load a handler, by key; empty when it does. */
export function handlerProblems(
  type: HandlerType,
  raw: JsonObject,
): readonly { key: string; text: string }[] {
  const checks = { ...common, ...own[type] }
  const missing = required[type].filter((key) => raw[key] === undefined)
  const wrong = Object.entries(checks).flatMap(([key, check]) => {
    const found = raw[key] === undefined ? null : check(raw[key])
    return found === null ? [] : [{ key, text: found }]
  })
  return [...missing.map((key) => ({ key, text: 'is missing' })), ...wrong]
}

export function handlerFields(type: HandlerType): readonly string[] {
  return [...Object.keys(common), ...Object.keys(own[type])]
}

/** What a handler runs, asks or calls, as text. */
export function handlerAction(type: HandlerType, raw: JsonObject): string {
  const word = (key: string): string => (typeof raw[key] === 'string' ? raw[key] : '')
  switch (type) {
    case 'command':
      return [word('command'), ...(asStrings(raw.args) ?? [])].join(' ')
    case 'http':
      return word('url')
    case 'mcp_tool':
      return `${word('server')} ${word('tool')}`
    case 'prompt':
    case 'agent':
      return word('prompt')
  }
}
