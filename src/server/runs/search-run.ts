import { join } from 'node:path'
import type { StoredRun } from '../../store/contract.ts'
import { trialIds } from '../../store/read-trials.ts'
import { searchLog } from './trial-view.ts'

/** Of one answer, of one trial, and of one look into a log. */
const maxHits = 100
const maxHitsOfTrial = 5
const maxBytes = 16 * 1024 * 1024
const sliceBytes = 4 * 1024 * 1024

/** A text in the logs of all trials, in their order. It reads a part of the run: `next` says where it goes on, as `trial:position`. */
export async function searchRun(
  run: StoredRun,
  { text, after }: { readonly text: string; readonly after?: string | undefined },
) {
  const ids = trialIds(run.dir)
  const [begin = '', position = '0'] = after?.split(':') ?? []
  const hits: { trial: string; at: number; excerpt: string; more: boolean }[] = []
  let [at, from] = [Math.max(0, ids.indexOf(begin)), Number(position) || 0]
  for (let read = 0; at < ids.length && hits.length < maxHits && read < maxBytes; ) {
    const trial = ids[at] ?? ''
    const limits = { from, maxHits: maxHitsOfTrial, maxBytes: sliceBytes }
    const found = await searchLog(join(run.trialDir(trial), 'events.jsonl'), text, limits)
    const shown = found.hits.slice(0, maxHitsOfTrial)
    const isEnough = shown.length === maxHitsOfTrial
    const more = found.hits.length > shown.length || (isEnough && found.next !== null)
    for (const [index, hit] of shown.entries())
      hits.push({ trial, ...hit, more: more && index === shown.length - 1 })
    read += found.next === null ? 10_000 : found.next - from
    ;[at, from] = found.next === null || isEnough ? [at + 1, 0] : [at, found.next]
  }
  const next = at < ids.length ? `${ids[at]}:${from}` : null
  return { hits, next, searched: at, trials: ids.length }
}
