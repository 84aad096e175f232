import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { asArray, isObject, parseObject } from '../../../core/json-fields.ts'
import { shorten } from '../../../core/shorten.ts'
import type { NormalRequest } from './normalise.ts'
import type { Tape, TapeExchange } from './tape.ts'

export type UnknownCall = Pick<TapeExchange, 'api' | 'kind' | 'model' | 'request'>

const diffLinesMax = 60
const lineLengthMax = 200
/** Above this many changes a diff would be slow and unreadable. */
const editsMax = 4_000

/** Explains why a recording has no answer: the nearest exchange, and how this request differs from it. */
export function describeMismatch(dir: string, call: UnknownCall, tape: Tape): string {
  const lines = renderRequest(call.request)
  const nearest = findNearest(call, lines, tape)
  const asked = `${call.api} ${call.kind} request to ${call.model || 'no model'}`
  if (nearest === null)
    return `The cassette ${dir} has no answer to this ${asked}: it contains no exchange of this API. ${remedy}`
  const { exchange, lines: recorded } = nearest
  const used = tape.isUsed(exchange) ? ', which was already used' : ''
  return [
    `The cassette ${dir} has no answer to this ${asked}. ${remedy}`,
    '',
    `Nearest is exchange ${exchange.index} of ${tape.exchanges.length}${used}; differences from it (-) to this request (+):`,
    ...firstLines(diffOf(exchange, recorded, lines)),
  ].join('\n')
}

const remedy =
  'If the change is intended, record the cassette again (--replay record, or gantry boundary record).'

interface Nearest {
  readonly exchange: TapeExchange
  readonly lines: readonly string[]
}

/** The most similar exchange; among equals the one that was expected next. */
function findNearest(call: UnknownCall, lines: readonly string[], tape: Tape): Nearest | null {
  const next = tape.exchanges.findIndex((exchange) => !tape.isUsed(exchange))
  const known = new Set(lines)
  let best: (Nearest & { readonly score: number }) | null = null
  for (const [at, exchange] of tape.exchanges.entries()) {
    if (exchange.api !== call.api) continue
    const candidate = renderRequest(exchange.request)
    const common = candidate.filter((line) => known.has(line)).length
    const alike = common / Math.max(1, candidate.length, lines.length)
    const score = alike + (exchange.kind === call.kind ? 0.05 : 0) + (at === next ? 0.02 : 0)
    if (best === null || score > best.score) best = { exchange, lines: candidate, score }
  }
  return best
}

function diffOf(
  exchange: TapeExchange,
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const patch = createTwoFilesPatch(
    `exchange ${exchange.index}`,
    'this request',
    `${before.join('\n')}\n`,
    `${after.join('\n')}\n`,
    undefined,
    undefined,
    { context: 2, maxEditLength: editsMax, headerOptions: FILE_HEADERS_ONLY },
  )
  if (patch === undefined) return ['(nearly everything differs)']
  return patch.trimEnd().split('\n')
}

function firstLines(diff: readonly string[]): readonly string[] {
  const cut = diff.map((line, at) => {
    const twin = line.startsWith('-') ? diff[at + 1] : line.startsWith('+') ? diff[at - 1] : undefined
    const isPair = twin !== undefined && ['-+', '+-'].includes(line.charAt(0) + twin.charAt(0))
    return isPair ? aroundChange(line, twin) : shorten(line, lineLengthMax)
  })
  if (cut.length <= diffLinesMax) return cut
  return [...cut.slice(0, diffLinesMax), `… and ${cut.length - diffLinesMax} more lines`]
}

/** A long line from shortly before the place where it differs from the other. */
function aroundChange(line: string, twin: string): string {
  let same = 1
  while (same < line.length && line[same] === twin[same]) same += 1
  const start = Math.max(1, same - 60)
  if (start === 1 || line.length <= lineLengthMax) return shorten(line, lineLengthMax)
  return shorten(`${line.charAt(0)}…${line.slice(start)}`, lineLengthMax)
}

/** The keys that contain the conversation in each API. */
const conversationKeys = ['messages', 'input', 'contents']

/** A readable request: settings, system text, tools, then the messages. One line per line of text. */
function renderRequest({ method, path, body }: NormalRequest): readonly string[] {
  if (!isObject(body)) return [`${method} ${path}`, ...outline(body)]
  const rest = Object.entries(body).filter(([key]) => !conversationKeys.includes(key) && key !== 'tools')
  const tools = asArray(body.tools).flatMap((tool, at) => [`── tool ${toolName(tool, at)}`, ...outline(tool)])
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

/** Content that is a single text is shown as that text. */
function renderPart(part: unknown): readonly string[] {
  if (!isObject(part)) return outline(part)
  const { type, text, ...others } = part
  if (typeof text === 'string' && Object.keys(others).length === 0) return text.split('\n')
  return outline(part)
}

/** Keys and values line by line, indented; texts without quotes and escapes. */
function outline(value: unknown, indent = ''): readonly string[] {
  // The arguments of a call are a JSON string.
  const opened = typeof value === 'string' ? (parseObject(value) ?? value) : value
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

function toolName(tool: unknown, at: number): string {
  if (!isObject(tool)) return String(at + 1)
  const inner = isObject(tool.function) ? tool.function : tool
  return String(inner.name ?? tool.type ?? at + 1)
}
