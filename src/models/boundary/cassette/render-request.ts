import { isObject } from '../../../core/json-fields.ts'
import type { NormalRequest } from './normalise.ts'

/** The lists that hold a conversation, in the APIs we know. */
const conversationKeys = ['messages', 'input', 'contents']

/** A request as a person would tell it: settings, system text, tools, then message by message. One line per line of text. */
export function renderRequest({ method, path, body }: NormalRequest): readonly string[] {
  if (!isObject(body)) return [`${method} ${path}`, ...outline(body)]
  const rest = Object.entries(body).filter(([key]) => !conversationKeys.includes(key) && key !== 'tools')
  const tools = asList(body.tools).flatMap((tool, at) => [`── tool ${toolName(tool, at)}`, ...outline(tool)])
  const talk = conversationKeys.flatMap((key) => {
    const value = body[key]
    if (value === undefined) return []
    return Array.isArray(value) ? value.flatMap(renderMessage) : ['── message 1', ...outline(value)]
  })
  return [`${method} ${path}`, ...outline(Object.fromEntries(rest)), ...tools, ...talk]
}

function renderMessage(message: unknown, at: number): readonly string[] {
  if (!isObject(message)) return [`── message ${at + 1}`, ...outline(message)]
  const { role, content, parts, ...others } = message
  const who = typeof role === 'string' ? role : String(message.type ?? 'unknown')
  const { type, ...known } = others
  const shown = type === undefined || type === 'message' || type === who ? known : others
  const body = content ?? parts
  return [
    `── message ${at + 1}: ${who}`,
    ...(Array.isArray(body) ? body.flatMap(renderPart) : body === undefined ? [] : outline(body)),
    ...outline(shown),
  ]
}

/** A text stands for itself. */
function renderPart(part: unknown): readonly string[] {
  if (!isObject(part)) return outline(part)
  const { type, text, ...others } = part
  if (typeof text === 'string' && Object.keys(others).length === 0) return text.split('\n')
  return outline(part)
}

/** Keys and values line by line, indented; texts as they are, without quotes and escapes. */
function outline(value: unknown, indent = ''): readonly string[] {
  const opened = typeof value === 'string' ? openJson(value) : value
  if (typeof opened === 'string') return opened.split('\n').map((line) => `${indent}${line}`)
  if (typeof opened !== 'object' || opened === null) return [`${indent}${String(opened)}`]
  const isList = Array.isArray(opened)
  return Object.entries(opened).flatMap(([key, item]: [string, unknown]) => {
    const name = isList ? '-' : `${key}:`
    const lines = outline(item, `${indent}  `)
    if (lines.length === 1 && !isList) return [`${indent}${name} ${(lines[0] ?? '').trimStart()}`]
    return lines.length === 0
      ? [`${indent}${name} ${isList ? '' : '(empty)'}`]
      : [`${indent}${name}`, ...lines]
  })
}

/** The arguments of a call are JSON in a text. */
function openJson(text: string): unknown {
  if (!text.startsWith('{')) return text
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : text
  } catch {
    return text
  }
}

function toolName(tool: unknown, at: number): string {
  if (!isObject(tool)) return String(at + 1)
  const inner = isObject(tool.function) ? tool.function : tool
  return String(inner.name ?? tool.type ?? at + 1)
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
