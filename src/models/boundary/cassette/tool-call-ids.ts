import { isUuid, type NormalText, replaceCandidates, replaceUuids } from './normalise-text.ts'

export type IdNumbers = ReturnType<typeof numberToolCallIds>

/** Ids of one request, numbered in order of appearance. The same id has the same number everywhere in the request. */
export function numberToolCallIds(body: unknown) {
  const ids = new Map<string, string>()
  const given = new Map<string, string>()
  collect(body, { ids, given }, 0)
  const uuids = new Map<string, string>()
  const standsFor = (piece: string): string =>
    ids.get(piece) ?? replaceUuids(piece, (uuid) => numbered(uuids, uuid.toLowerCase(), 'uuid'))
  return {
    /** The placeholder for the value of this key; null when it is not an id. */
    of: (object: object, key: string): string | null => {
      const id = idAt(object, key)
      return id === null ? null : (ids.get(id) ?? null)
    },
    inText: ({ text, candidates }: NormalText): string => {
      const isIn = candidates.some((found) => standsFor(found) !== found)
      return replaceNames(isIn ? replaceCandidates(text, standsFor) : text, given)
    },
    /** Names that the agent generated, by placeholder. UUIDs only as far as they have been seen. */
    names: (): ReadonlyMap<string, string> => new Map([...uuids, ...given]),
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

/** Keys are sorted: some clients write them in any order. */
function collect(value: unknown, found: Found, depth: number): void {
  if (typeof value === 'string') {
    for (const name of generatedNames(value)) if (!isUuid(name)) numbered(found.given, name, 'given')
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

/** A message, a call or its result. An `id` in anything else is data. */
function isExchangePart(object: object): boolean {
  if ('previous_response_id' in object) return true
  return ['type', 'role', 'functionCall', 'functionResponse', 'args', 'response'].some((key) => key in object)
}

const answeringKeys = ['tool_use_id', 'call_id', 'tool_call_id']

/**
 * Sorts adjacent results in the order of their calls: parallel calls end in any order, and some agents send the first
 * finished result first. The id of each result identifies its call.
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
 * Names that an agent generates in every run and gives to its model: ids of subagents, background tasks and processes.
 * The model uses them in its calls, so a recorded answer must be replayed with the names of this run.
 */
const handing =
  /(?:\bagentId: |\bSendMessage with to: '|\brunning in (?:the )?background with ID: |\bsession ID |<task-id>|"agent_id":")((?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{4,})/g

/** In the order in which they appear. */
export function generatedNames(text: string): readonly string[] {
  return [...text.matchAll(handing)].map(([, name = '']) => name)
}

/** Replaces names by their placeholders, wherever they are whole words. */
export function replaceNames(text: string, names: ReadonlyMap<string, string>): string {
  let replaced = text
  for (const [name, stands] of names) {
    if (replaced.includes(name)) replaced = replaced.replaceAll(wholeWord(name), () => stands)
  }
  return replaced
}

/** A stored answer: a literal placeholder becomes `{~uuid:1}`. */
export function storeNames(text: string, names: ReadonlyMap<string, string>): string {
  const escaped = text.replaceAll(marked, (_, waves: string, name: string) => `{~${waves}${name}}`)
  return replaceNames(escaped, names)
}

/** Undoes `storeNames` with the names of another run. A name that this run does not have stays. */
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

/** Tool arguments, or data returned by a tool: their content belongs to the task, not to the API. */
export function isArgument(object: object, key: string): boolean {
  const type: unknown = Reflect.get(object, 'type')
  if (key === 'input') return typeof type === 'string' && type.endsWith('tool_use')
  return key === 'args' || (key === 'response' && 'name' in object)
}
