import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import type { McpServerComponent } from '../contract.ts'
import { typeWord } from '../type-word.ts'

type ServerType = McpServerComponent['server_type']

const named: Readonly<Record<string, ServerType>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  sse: 'sse',
  ws: 'websocket',
  websocket: 'websocket',
}

/** What the author says, else what the rest tells. `sse` must be said: its address looks like any other. */
export function serverType(config: JsonObject): ServerType {
  const said =
    typeof config.type === 'string' && Object.hasOwn(named, config.type) ? named[config.type] : undefined
  if (said !== undefined) return said
  if (config.command !== undefined) return 'stdio'
  if (typeof config.url !== 'string') return 'stdio'
  return /^wss?:/i.test(config.url) ? 'websocket' : 'http'
}

/** Why Claude Code would silently leave the server out; null when it would start it. */
export function serverProblem(
  config: unknown,
): { readonly message: string; readonly suggestion: string } | null {
  const fields = asObject(config)
  if (fields === null)
    return {
      message: `the server is ${typeWord(config)}, so that it is left out`,
      suggestion: 'Write an object with command or url.',
    }
  const { type, url, command } = fields
  if (type !== undefined && (typeof type !== 'string' || !Object.hasOwn(named, type)))
    return {
      message: `the type ${JSON.stringify(type)} is unknown, so that the server is left out`,
      suggestion: 'Use stdio, http, sse or ws.',
    }
  if (type === undefined && url !== undefined && command === undefined)
    return {
      message:
        'the server has an url and no type, so that Claude Code takes it for a program and leaves it out',
      suggestion: `Add "type": "${serverType(fields) === 'websocket' ? 'ws' : 'http'}".`,
    }
  if (serverType(fields) === 'stdio')
    return typeof command === 'string' && command !== ''
      ? null
      : {
          message: 'the server has no command, so that it is left out',
          suggestion: 'Add the program as command.',
        }
  return typeof url === 'string' && url !== ''
    ? null
    : { message: 'the server has no url, so that it is left out', suggestion: 'Add its address as url.' }
}
