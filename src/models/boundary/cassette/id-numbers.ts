import { namesHandedIn, replaceNames } from './handed-names.ts'
import { isArgument } from './is-argument.ts'
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
