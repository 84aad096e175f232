import { directoriesIn } from '../io/directory.ts'
import type { Store } from './contract.ts'

/** The parsed directory name of a run, with its start time. */
export interface ParsedRunId {
  readonly id: string
  /** New runs use `current`. The others are from older tools and are still listed and cleaned. */
  readonly format: 'current' | 'fraction' | 'descriptive' | 'short'
  readonly startedAtMs: number
}

const formats: readonly (readonly [ParsedRunId['format'], RegExp])[] = [
  ['current', /^run_(\d{8})_(\d{6})_[a-z0-9]{6}$/],
  ['fraction', /^run-(\d{8})-(\d{6})-(\d{1,9})$/],
  // Tool, model and scenario, all non-empty.
  ['descriptive', /^(\d{8})-(\d{6})-[^-/\\\0][^/\\\0]*-[^/\\\0]+-[^/\\\0]*[^-/\\\0]$/],
  // cc-plugin-eval.
  ['short', /^(\d{8})-(\d{6})-[\w-]{4,8}$/],
]

/** null when the name is not a run id, or its date or time does not exist. */
export function parseRunId(name: string): ParsedRunId | null {
  for (const [format, pattern] of formats) {
    const match = pattern.exec(name)
    if (match === null) continue
    const [, date = '', time = '', fraction = ''] = match
    const seconds = timeOf(date, time)
    if (seconds === null) return null
    const fractionMs = format === 'fraction' ? Math.floor(Number(`0.${fraction}`) * 1_000) : 0
    return { id: name, format, startedAtMs: seconds + fractionMs }
  }
  return null
}

function timeOf(date: string, time: string): number | null {
  const iso = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}.000Z`
  const parsed = Date.parse(iso)
  // Some dates that do not exist, such as 30 February, would silently become another day.
  return Number.isNaN(parsed) || new Date(parsed).toISOString() !== iso ? null : parsed
}

/** Names of all run directories, newest first. Ignores other names, and files with the name of a run. Costs one system call. */
export function runIds(store: Store): ParsedRunId[] {
  return directoriesIn(store.runsDir)
    .map(parseRunId)
    .filter((parsed) => parsed !== null)
    .sort((a, b) => b.startedAtMs - a.startedAtMs || (a.id < b.id ? 1 : -1))
}
