import { isUuid, type NormalText, replaceCandidates, replaceUuids } from './normalise-text.ts'

/** Ids of one request, numbered in the order in which they appear. The same id has the same number everywhere in it. */
export interface IdNumbers {
  /** What stands for the value of this key; null when it holds no id. */
  of(object: object, key: string): string | null
  inText(text: NormalText): string
  /** Names that the agent itself made up, by what stands for them. Of UUIDs those that were met so far. */
  names(): ReadonlyMap<string, string>
}

export function createIdNumbers(body: unknown): IdNumbers {
  const ids = new Map<string, string>()
  const given = new Map<string, string>()
  collect(body, { ids, given }, 0)
  const uuids = new Map<string, string>()
  const standsFor = (piece: string): string =>
    ids.get(piece) ?? replaceUuids(piece, (uuid) => numbered(uuids, uuid.toLowerCase(), 'uuid'))
  return {
    of: (object, key) => {
      const id = idAt(object, key)
      return id === null ? null : (ids.get(id) ?? null)
    },
    inText: ({ text, candidates }) => {
      const isIn = candidates.some((found) => standsFor(found) !== found)
      return replaceNames(isIn ? replaceCandidates(text, standsFor) : text, given)
    },
    names: () => new Map([...uuids, ...given]),
  }
}

const idKeys = new Set([
  'call_id',
  'id',
  'item_id',
  'previous_response_id',
  'response_id',
  'tool_call_id',
  'tool_use_id',
])

const deepest = 200

interface Found {
  readonly ids: Map<string, string>
  readonly given: Map<string, string>
}

/** In the order of the sorted keys: some clients write theirs in any order. */
function collect(value: unknown, found: Found, depth: number): void {
  if (typeof value === 'string') {
    for (const name of namesHandedIn(value)) if (!isUuid(name)) numbered(found.given, name, 'given')
    return
  }
  if (typeof value !== 'object' || value === null || depth > deepest) return
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found, depth + 1)
    return
  }
  for (const key of Object.keys(value).sort()) {
    const id = idAt(value, key)
    if (id !== null) numbered(found.ids, id, 'id')
    else if (!isArgument(value, key)) collect(Reflect.get(value, key), found, depth + 1)
  }
}

function numbered(known: Map<string, string>, id: string, word: string): string {
  const name = known.get(id) ?? `{${word}:${known.size + 1}}`
  known.set(id, name)
  return name
}

function idAt(object: object, key: string): string | null {
  if (!idKeys.has(key) || !isExchangePart(object)) return null
  const value: unknown = Reflect.get(object, key)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A message, a call or its result; anything else that has an `id` is somebody's data. */
function isExchangePart(object: object): boolean {
  if ('previous_response_id' in object) return true
  return ['type', 'role', 'functionCall', 'functionResponse', 'args', 'response'].some((key) => key in object)
}

const answeringKeys = ['tool_use_id', 'call_id', 'tool_call_id']

/**
 * Results that stand side by side, in the order of their calls: parallel calls end in any order, and some agents send what
 * ended first first. Which call each of them answers is told by its id.
 */
export function inOrderOfCalls(
  items: readonly unknown[],
  ids: IdNumbers,
  isToolOutput: (object: object) => boolean,
): readonly unknown[] {
  const numberOf = (item: unknown): number | null =>
    typeof item === 'object' && item !== null && isToolOutput(item) ? answered(item, ids) : null
  const numbers = items.map(numberOf)
  if (!numbers.some((number, at) => isBehind(number, numbers[at + 1]))) return items
  const sorted: unknown[] = []
  for (let at = 0; at < items.length; ) {
    const run: { readonly item: unknown; readonly number: number }[] = []
    for (let number = numbers[at]; number !== null && number !== undefined; number = numbers[at]) {
      run.push({ item: items[at], number })
      at += 1
    }
    sorted.push(...run.sort((a, b) => a.number - b.number).map(({ item }) => item))
    if (run.length === 0) {
      sorted.push(items[at])
      at += 1
    }
  }
  return sorted
}

function isBehind(number: number | null, next: number | null | undefined): boolean {
  return number !== null && next !== null && next !== undefined && number > next
}

function answered(object: object, ids: IdNumbers): number | null {
  const key = answeringKeys.find((name) => name in object)
  const id = key === undefined ? null : ids.of(object, key)
  const number = /\d+/.exec(id ?? '')?.[0]
  return number === undefined ? null : Number(number)
}

/**
 * Names an agent makes up in every run and hands to its model: ids of subagents, of tasks in the background, of processes. A
 * model hands them back in its calls, so an answer that was recorded with one must be given with the one of this run.
 */
const handing =
  /(?:\bagentId: |\bSendMessage with to: '|\brunning in (?:the )?background with ID: |\bsession ID |<task-id>|"agent_id":")((?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{4,})/g

/** In the order in which they are handed over. */
export function namesHandedIn(text: string): readonly string[] {
  return [...text.matchAll(handing)].map(([, name = '']) => name)
}

/** Puts what stands for them in the place of names, wherever they are whole words. */
export function replaceNames(text: string, names: ReadonlyMap<string, string>): string {
  let replaced = text
  for (const [name, stands] of names) {
    if (replaced.includes(name)) replaced = replaced.replaceAll(wholeWord(name), () => stands)
  }
  return replaced
}

/** An answer as it is stored: what looked like a placeholder before becomes `{~uuid:1}`. */
export function storeNames(text: string, names: ReadonlyMap<string, string>): string {
  const escaped = text.replaceAll(marked, (_, waves: string, name: string) => `{~${waves}${name}}`)
  return replaceNames(escaped, names)
}

/** Undoes `storeNames` with the names of another run. One that this run has not handed over stays as it is. */
export function fillNames(text: string, names: ReadonlyMap<string, string>): string {
  if (!text.includes('{')) return text
  const byPlaceholder = new Map([...names].map(([name, stands]) => [stands, name]))
  return text.replaceAll(marked, (whole, waves: string, name: string) =>
    waves === '' ? (byPlaceholder.get(whole) ?? whole) : `{${waves.slice(1)}${name}}`,
  )
}

const marked = /\{(~*)((?:uuid|given):\d+)\}/g

function wholeWord(name: string): RegExp {
  return new RegExp(`(?<![0-9A-Za-z])${name.replaceAll(/[^0-9A-Za-z_]/g, '\\$&')}(?![0-9A-Za-z])`, 'g')
}

/** What a model gave to a tool, or a tool gave back as data: whatever stands in it belongs to the task, not to the API. */
export function isArgument(object: object, key: string): boolean {
  const type: unknown = Reflect.get(object, 'type')
  if (key === 'input') return typeof type === 'string' && type.endsWith('tool_use')
  return key === 'args' || (key === 'response' && 'name' in object)
}
