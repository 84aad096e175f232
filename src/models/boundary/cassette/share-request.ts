import { isObject } from '../../../core/json-fields.ts'
import type { NormalRequest } from './normalise.ts'
import type { CassetteRequest } from './read-cassette-index.ts'
import { canonical } from './tape.ts'

export interface EarlierRequest {
  readonly index: number
  readonly request: NormalRequest
}

/** Sharing less is not worth a reference to another file. */
const worthSharing = 512

export function shareRequest(request: NormalRequest, earlier: readonly EarlierRequest[]): CassetteRequest {
  const { method, path, body } = request
  if (!isObject(body)) return { method, path, body }
  let best: { readonly base: EarlierRequest; readonly shared: number } | null = null
  for (const base of earlier.toReversed()) {
    const shared = sharedLength(body, base.request.body)
    if (shared >= worthSharing && shared > (best?.shared ?? 0)) best = { base, shared }
  }
  return best === null ? { method, path, body } : continued(request, body, best.base)
}

/** Undoes `shareRequest`; null when the continued exchange is unknown or lacks the shared items. */
export function joinRequest(
  stored: CassetteRequest,
  find: (index: number) => NormalRequest | undefined,
): NormalRequest | null {
  const { method, path, continues, kept = {}, dropped = [], body } = stored
  if (continues === undefined) return { method, path, body }
  const base = find(continues)?.body
  if (!isObject(base) || !isObject(body)) return null
  const joined: Record<string, unknown> = { ...base, ...body }
  for (const [key, count] of Object.entries(kept)) {
    const before = base[key]
    const after = body[key] ?? []
    if (!Array.isArray(before) || !Array.isArray(after) || before.length < count) return null
    joined[key] = [...before.slice(0, count), ...after]
  }
  const keys = Object.keys(joined).filter((key) => !dropped.includes(key))
  return { method, path, body: Object.fromEntries(keys.sort().map((key) => [key, joined[key]])) }
}

function continued(
  { method, path }: NormalRequest,
  body: Readonly<Record<string, unknown>>,
  { index, request }: EarlierRequest,
): CassetteRequest {
  const base = isObject(request.body) ? request.body : {}
  const kept: Record<string, number> = {}
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(body)) {
    const before = base[key]
    if (Object.hasOwn(base, key) && canonical(before) === canonical(value)) continue
    const count = commonItems(value, before)
    if (count > 0) kept[key] = count
    changed[key] = count > 0 && Array.isArray(value) ? value.slice(count) : value
  }
  const dropped = Object.keys(base).filter((key) => !Object.hasOwn(body, key))
  return {
    method,
    path,
    continues: index,
    ...(Object.keys(kept).length > 0 && { kept }),
    ...(dropped.length > 0 && { dropped }),
    body: changed,
  }
}

function sharedLength(body: Readonly<Record<string, unknown>>, base: unknown): number {
  if (!isObject(base)) return 0
  return Object.entries(body).reduce((sum, [key, value]) => {
    if (!Object.hasOwn(base, key)) return sum
    if (canonical(base[key]) === canonical(value)) return sum + canonical(value).length
    const count = commonItems(value, base[key])
    if (count === 0 || !Array.isArray(value)) return sum
    return value.slice(0, count).reduce((length: number, item) => length + canonical(item).length, sum)
  }, 0)
}

function commonItems(one: unknown, other: unknown): number {
  if (!Array.isArray(one) || !Array.isArray(other)) return 0
  const differs = one.findIndex((item, at) => at >= other.length || canonical(item) !== canonical(other[at]))
  return differs === -1 ? one.length : differs
}
