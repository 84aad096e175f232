import { join } from 'node:path'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import type { RunKind, Store } from './contract.ts'
import { readManifestState } from './manifest.ts'
import { type ParsedRunId, runIds } from './run-id.ts'

export interface FindOptions {
  /** Limits `latest` and `blessed` to runs of this kind. */
  readonly kind?: RunKind
  /** Limits them to runs that began in such a directory. */
  readonly isWanted?: (cwd: string) => boolean
}

/**
 * The full id for `latest`, `latest~1` (the one before it), `blessed` (the newest of them), an id, or a prefix with or without `run_`. Throws GantryError NOT_FOUND
 * with the nearest or newest ids, USAGE when the prefix is ambiguous.
 */
export function findRun(store: Store, wanted: string, options: FindOptions = {}): string {
  const ids = runIds(store)
  const [, name, back] = /^(latest|blessed)(?:~(\d+))?$/.exec(wanted) ?? []
  if (name !== undefined)
    return newest(store, ids, { isBlessed: name === 'blessed', back: Number(back ?? 0) }, options)
  const exact = ids.find(({ id }) => id === wanted)
  if (exact !== undefined) return exact.id
  const matches =
    wanted === '' ? [] : ids.filter(({ id }) => id.startsWith(wanted) || id.startsWith(`run_${wanted}`))
  if (matches.length === 1 && matches[0] !== undefined) return matches[0].id
  if (matches.length > 1) throw ambiguous(wanted, matches)
  throw unknown(store, wanted, ids)
}

function newest(
  store: Store,
  ids: readonly ParsedRunId[],
  { isBlessed, back }: { readonly isBlessed: boolean; readonly back: number },
  { kind, isWanted }: FindOptions,
): string {
  const found: { readonly id: string; readonly startedAt: string; readonly secondMs: number }[] = []
  for (const { id, startedAtMs } of ids) {
    // Ids have only seconds. For several in one second compare the manifests.
    if (found.length > back && startedAtMs < (found.at(-1)?.secondMs ?? 0)) break
    const state = readManifestState(join(store.runsDir, id))
    const manifest = state.kind === 'whole' ? state.manifest : null
    if (kind !== undefined && manifest?.kind !== kind) continue
    if (isWanted !== undefined && (manifest === null || !isWanted(manifest.cwd))) continue
    if (isBlessed && manifest?.flags.blessed !== true) continue
    found.push({ id, startedAt: manifest?.timestamp_start ?? '', secondMs: startedAtMs })
  }
  const ordered = found.sort((a, b) => b.secondMs - a.secondMs || (a.startedAt < b.startedAt ? 1 : -1))
  const one = ordered[back]
  if (one !== undefined) return one.id
  if (found.length > 0)
    throw new GantryError('NOT_FOUND', `${store.root} has only ${counted(found.length, 'such run')}`, {
      hint: 'See "gantry runs list".',
    })
  const what = ['no', isBlessed ? 'blessed' : '', kind ?? '', 'run'].filter((word) => word !== '').join(' ')
  const hint = isBlessed ? 'Bless one with "gantry runs bless RUN".' : 'The store has none yet.'
  const where = isWanted === undefined ? store.root : `this project in ${store.root}`
  throw new GantryError('NOT_FOUND', `there is ${what} ${isWanted === undefined ? 'in' : 'of'} ${where}`, {
    hint,
  })
}

function ambiguous(wanted: string, matches: readonly ParsedRunId[]): GantryError {
  return new GantryError('USAGE', `${matches.length} runs begin with ${JSON.stringify(wanted)}`, {
    hint: `Write more of the id: ${shown(matches)}.`,
  })
}

function unknown(store: Store, wanted: string, ids: readonly ParsedRunId[]): GantryError {
  const message = `there is no run ${JSON.stringify(wanted)} in ${store.root}`
  if (ids.length === 0) return new GantryError('NOT_FOUND', message, { hint: 'The store has no runs yet.' })
  const names = ids.map(({ id }) => id)
  const close = nearest(wanted, names)
  const hint = close === undefined ? `The newest are: ${shown(ids)}.` : `Did you mean ${close}?`
  return new GantryError('NOT_FOUND', message, { hint })
}

function shown(ids: readonly ParsedRunId[]): string {
  const some = ids.slice(0, 5).map(({ id }) => id)
  return `${some.join(', ')}${ids.length > some.length ? ', …' : ''}`
}
