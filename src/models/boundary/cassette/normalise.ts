import type { Api } from '../contract.ts'
import { createTextNormaliser, type NormaliseText, type TextRules } from './normalise-text.ts'
import { type IdNumbers, inOrderOfCalls, isArgument, numberToolCallIds } from './tool-call-ids.ts'

/** A request without anything that differs between runs: requests with the same content are equal. */
export interface NormalRequest {
  readonly method: string
  /** Without the query, except for parameters that change the format of the answer. */
  readonly path: string
  /** JSON with its keys in order, or text. */
  readonly body: unknown
}

export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Parsed JSON, or text when it is not JSON. */
  readonly body: unknown
}

export type Normalise = (request: RawRequest, api: Api) => NormalRequest

/**
 * Removes volatile parts: paths, ids (numbered in order of appearance), times, cache marks, facts about the machine.
 * Pure and idempotent. Every other difference between two requests remains.
 */
export function createNormaliser(rules: TextRules): Normalise {
  const normaliseText = createTextNormaliser(rules)
  return ({ method, path, body }, api) => {
    const ids = numberToolCallIds(body)
    const normal = {
      method: method.toUpperCase(),
      path: withoutQuery(path),
      body: walk(body, { normaliseText, api, ids }, 'message', 0),
    }
    names.set(normal, ids.names())
    return normal
  }
}

/** Not part of the request: equal requests have different names. */
const names = new WeakMap<NormalRequest, ReadonlyMap<string, string>>()

/** The names that were removed from this request, by placeholder. */
export function namesTakenFrom(request: NormalRequest): ReadonlyMap<string, string> {
  return names.get(request) ?? new Map()
}

interface Request {
  readonly normaliseText: NormaliseText
  readonly api: Api
  readonly ids: IdNumbers
}

/** The source of a text. In tool arguments (`argument`) and in data returned by a tool, keys have no meaning. */
type Words = 'message' | 'output' | 'argument' | 'output_data'

/** Deeper than any API nests. Deeper data is left alone, because recursion would overflow the stack. */
const deepest = 200

/** Values that the client generates per session, and marks that do not change the answer. */
const volatileAtTop = new Set([
  'client_metadata',
  'prompt_cache_key',
  'request_id',
  'safety_identifier',
  'session_id',
  'user',
])

/** Names and encrypted data, which must not be changed. */
const verbatimKeys = new Set([
  'data',
  'encrypted_content',
  'model',
  'name',
  'role',
  'signature',
  'thoughtSignature',
  'type',
])

function walk(value: unknown, request: Request, words: Words, depth: number): unknown {
  if (typeof value === 'string') {
    const isOutput = words === 'output' || words === 'output_data'
    return request.ids.inText(request.normaliseText(value, isOutput))
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) return '{deep}'
  if (Array.isArray(value)) {
    const items = words === 'message' ? inOrderOfCalls(value, request.ids, isToolOutput) : value
    return items.map((item) => walk(item, request, words, depth + 1))
  }
  return walkObject(value, request, words === 'message' && isToolOutput(value) ? 'output' : words, depth + 1)
}

function walkObject(object: object, request: Request, words: Words, depth: number): Record<string, unknown> {
  const isData = words === 'argument' || words === 'output_data'
  const normal: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort()) {
    const item: unknown = Reflect.get(object, key)
    if (isData) setOwn(normal, key, walk(item, request, words, depth))
    else if (!isVolatile(key, item, depth)) {
      const id = request.ids.of(object, key)
      const isVerbatim = typeof item === 'string' && verbatimKeys.has(key)
      const kept = id ?? (isVerbatim ? item : walkField(object, key, item, request, words, depth))
      setOwn(normal, key, kept)
    }
  }
  return normal
}

function walkField(
  object: object,
  key: string,
  item: unknown,
  request: Request,
  words: Words,
  depth: number,
): unknown {
  const inside = isArgument(object, key) ? (words === 'output' ? 'output_data' : 'argument') : words
  return walk(inOneForm(key, item, request.api), request, inside, depth)
}

/** A key with this name would change the prototype of the object. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true })
  else object[key] = value
}

function isVolatile(key: string, item: unknown, depth: number): boolean {
  if (key === 'cache_control') return true
  if (depth === 1) return volatileAtTop.has(key)
  // Claude Code: device, account and session in one string.
  return key === 'user_id' && depth === 2 && typeof item === 'string'
}

/** Anthropic treats a text as a list of one text block, and Claude Code switches between both when it moves its cache marks. */
function inOneForm(key: string, item: unknown, api: Api): unknown {
  const isText = api === 'anthropic' && typeof item === 'string' && (key === 'content' || key === 'system')
  return isText ? [{ type: 'text', text: item }] : item
}

function isToolOutput(object: object): boolean {
  const { type, role } = object as { readonly type?: unknown; readonly role?: unknown }
  if (typeof type === 'string' && /(?:tool_result|_output)$/.test(type) && type !== 'computer_output')
    return true
  return role === 'tool' || role === 'function' || 'functionResponse' in object
}

function withoutQuery(path: string): string {
  const [before = '', query = ''] = path.split('?')
  const alt = new URLSearchParams(query).get('alt')
  return alt === null ? before : `${before}?alt=${alt}`
}
