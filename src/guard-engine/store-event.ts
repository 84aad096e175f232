import { resolve } from 'node:path'
import type { HookEvent, ToolCall, ToolOutcome } from '../core/hook-event.ts'
import { isObject } from '../core/json-fields.ts'
import { type Redactor, redactBy } from '../core/redact/redact-by.ts'
import { sha256 } from '../io/sha256.ts'
import type { Facts, History, LedgerEvent, OpenCall, StoredCall } from './contract.ts'
import { isReadOnlyCall } from './loops/is-read-only-call.ts'
import { outcomeSignature } from './outcome-signature.ts'

const maxCommandChars = 4_000
const maxTextChars = 2_000
const maxHeadChars = 1_200
const maxHeadLines = 12
const maxNameChars = 200

/** The stored form of an event. Signatures are made from the original event. Every text is redacted, then shortened. */
export function storeEvent(event: HookEvent, facts: Partial<Facts>, redactor: TextRedactor): LedgerEvent {
  return {
    kind: event.kind,
    agent: event.agent,
    session: event.session,
    agentId: event.agentId,
    agentType: event.agentType,
    promptId: event.promptId,
    cwd: event.cwd,
    ...happening(event, redactor),
    facts,
  }
}

function happening(
  event: HookEvent,
  redactor: TextRedactor,
): Pick<LedgerEvent, 'source' | 'flag' | 'text' | 'call'> {
  const text = (words: string | null): { readonly text?: string } =>
    words === null ? {} : { text: redactedHead(words, maxTextChars, redactor) }
  switch (event.kind) {
    case 'session_start':
      return { source: event.source }
    case 'session_end':
      return text(event.reason)
    case 'prompt':
      return { flag: event.synthetic, ...text(event.text) }
    case 'tool_before':
      return { call: storeCall(event, event.call, redactor) }
    case 'tool_after': {
      const call = storeCall(event, event.call, redactor)
      return { call: { ...call, outcome: storeOutcome(call, event.outcome, redactor) } }
    }
    case 'tool_denied':
      return { call: storeCall(event, event.call, redactor), ...text(event.reason) }
    case 'stop':
    case 'subagent_stop':
      return { flag: event.again, ...text(event.lastMessage) }
    case 'stop_failed':
      return text(event.error)
    case 'subagent_start':
      return {}
    case 'compact_before':
      return text(event.trigger)
    case 'compact_after':
      return text(event.summary)
    case 'config_change':
      return text(event.path ?? event.source)
    case 'other':
      return text(event.name)
  }
}

function storeCall({ cwd }: HookEvent, call: ToolCall, redactor: TextRedactor): StoredCall {
  const { action } = call
  return {
    id: call.id,
    tool: redactedHead(call.tool, maxNameChars, redactor),
    action: action.kind,
    paths: callPaths(call, cwd),
    ...(action.kind === 'shell' && { command: redactedHead(action.command, maxCommandChars, redactor) }),
    signature: callSignature(call),
    input: redactedValue(call.input, redactor),
  }
}

function storeOutcome(
  call: StoredCall,
  outcome: ToolOutcome,
  redactor: TextRedactor,
): NonNullable<StoredCall['outcome']> {
  const stored = {
    kind: knownEnd(outcome),
    exitCode: outcome.exitCode,
    signature: looked,
    head: redactedHead(outcome.output, maxHeadChars, redactor).split('\n', maxHeadLines).join('\n'),
    ...failingIn(outcome),
    ...(outcome.durationMs !== undefined && { durationMs: outcome.durationMs }),
  }
  const isLook = stored.kind === 'success' && isReadOnlyCall({ ...call, outcome: stored })
  return isLook ? stored : { ...stored, signature: outcomeSignature(outcome) }
}

/** The summary of a test runner is at the end of its output. */
function failingIn({ kind, output }: ToolOutcome): { readonly failing?: number } {
  if (kind !== 'failure') return {}
  const end = output.slice(-4_000)
  const counts = [
    ...end.matchAll(
      /(\d+)\s+(?:tests?\s+|examples?\s+)?(?:failed|failing|failures?)\b|\b(?:failed|failures|fail)\s*[:=]\s*(\d+)/gi,
    ),
  ]
  return counts.length === 0
    ? {}
    : { failing: Math.max(...counts.map(([, before, after]) => Number(before ?? after))) }
}

/** Signature of a successful read: it is never part of a loop, so its possibly long output is not hashed. */
const looked = 'looked'

/** A call that was only started, or that a person interrupted, neither succeeded nor failed. */
function knownEnd({ kind, background, interrupted, timedOut }: ToolOutcome): ToolOutcome['kind'] {
  return background || (interrupted && !timedOut) ? 'unknown' : kind
}

type TextRedactor = Pick<Redactor, 'text' | 'value'>

const maxStringChars = 2_000
const maxTotalChars = 8_000
const maxItems = 50
const maxDepth = 8
/** Longer than any token, so the rest of a secret that was cut falls into the dropped part. */
const marginChars = 8_192

/** JSON-like data with secrets hidden, small enough for a log line: long texts, lists and depths are cut. */
function redactedValue(value: unknown, redactor: TextRedactor): unknown {
  let room = maxTotalChars

  function leaf(key: string, text: string): readonly [string, unknown] {
    const head = text.slice(0, maxStringChars + marginChars)
    // Together with its key, because a key can name a secret.
    const [name, hidden] = Object.entries(redactor.value({ [key]: head }))[0] ?? [key, '']
    const max = Math.max(0, Math.min(maxStringChars, room))
    const shown = cut(String(hidden), text.length > head.length, max)
    room -= shown.length
    return [name.slice(0, maxStringChars), shown]
  }

  function walk(key: string, item: unknown, depth: number): readonly [string, unknown] {
    if (typeof item === 'string') return leaf(key, item)
    const name = redactor.text(key.slice(0, maxStringChars))
    room -= name.length + 4
    if (typeof item !== 'object' || item === null) return [name, item]
    if (depth >= maxDepth || room <= 0) return [name, '…']
    if (Array.isArray(item)) {
      const kept = item.slice(0, maxItems).map((each) => walk('', each, depth + 1)[1])
      return [name, item.length > maxItems ? [...kept, `… ${item.length - maxItems} more`] : kept]
    }
    const entries = Object.entries(item)
    const kept = entries.slice(0, maxItems).map(([each, inner]) => walk(each, inner, depth + 1))
    const more = entries.length - kept.length
    return [name, Object.fromEntries(more > 0 ? [...kept, ['…', `${more} more`]] : kept)]
  }

  return walk('', value, 0)[1]
}

/** The beginning of a text without its secrets. Reads no more than necessary. */
function redactedHead(text: string, maxChars: number, redactor: TextRedactor): string {
  const head = text.slice(0, maxChars + marginChars)
  return cut(redactor.text(head), text.length > head.length, maxChars)
}

function cut(hidden: string, isOpen: boolean, maxChars: number): string {
  const sure = isOpen ? Math.max(0, hidden.length - marginChars) : hidden.length
  const length = Math.min(maxChars, sure)
  return length === hidden.length ? hidden : `${hidden.slice(0, length)}…`
}

const secretName = /key|token|secret|passw|passphrase|credential|auth/i

/** Hides text that looks like a secret, and values of variables with a secret's name. */
export function eventRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const values = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
  )
  return redactBy([...new Set(values)])
}

/** Whether it is an editing tool, not a command that may change files. */
export function isEditing(action: StoredCall['action']): boolean {
  return action === 'write' || action === 'edit' || action === 'patch'
}

/** Absolute paths of the files that a call names as its targets, without duplicates. Files of a shell command are not included. */
export function callPaths({ action, input }: ToolCall, cwd: string): readonly string[] {
  const named = namedPaths(action, input)
  return [...new Set(named.filter((path) => path !== '').map((path) => resolve(cwd, path)))]
}

function namedPaths(action: ToolCall['action'], input: unknown): readonly string[] {
  switch (action.kind) {
    case 'write':
    case 'edit':
      return [action.path]
    case 'read':
      return action.path === null ? [] : [action.path]
    case 'patch':
      return action.files.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]))
    case 'unknown':
      return pathsIn(input)
    case 'shell':
    case 'subagent':
      return []
  }
}

const pathKeys = ['file_path', 'path', 'filePath', 'filename', 'notebook_path', 'absolute_path']

function pathsIn(input: unknown): readonly string[] {
  if (typeof input !== 'object' || input === null) return []
  const fields = new Map(Object.entries(input))
  return pathKeys.map((key) => fields.get(key)).filter((value) => typeof value === 'string')
}

const signatureChars = 16
const maxInputDepth = 40
/** Remarks of the agent about its call, which do not change what the call does. */
const remarks = new Set(['description', 'explanation', 'reason', 'justification', 'thought'])

/** Equal for the same tool with the same input, whatever the order of keys and the remarks. */
export function callSignature({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  return sha256(`${tool}\n${canonical(withoutRemarks(input), 0)}`).slice(0, signatureChars)
}

/** What was recorded before the call. */
export function openCall(call: ToolCall, { calls }: Pick<History, 'calls'>): OpenCall | undefined {
  const key = call.id ?? callSignature(call)
  return Object.hasOwn(calls.open, key) ? calls.open[key] : undefined
}

function withoutRemarks(input: unknown): unknown {
  if (!isObject(input)) return input
  const kept = Object.entries(input).filter(([key]) => !remarks.has(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, key === 'command' ? withoutWait(value) : value]))
}

/** Waiting before the same command does not make it another one. */
function withoutWait(command: unknown): unknown {
  return typeof command === 'string' && command.includes('sleep')
    ? command.replace(/^\s*sleep\s+[\d.]+[smh]?\s*(?:&&|;)\s*(?=\S)/, '')
    : command
}

function canonical(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.replaceAll('\r\n', '\n').trim())
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  // Deeper than any tool input. Differences below are ignored.
  if (depth >= maxInputDepth) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join(',')}}`
}
