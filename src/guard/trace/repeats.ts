import type { StoredCall } from '../../guard-engine/contract.ts'
import { isReadOnlyCall } from '../../guard-engine/loops/is-read-only-call.ts'
import { cappedMap } from './capped-map.ts'
import type { TraceCall } from './read-record.ts'
import type { RepeatFigure } from './trace-report.ts'

const rounds = 3
const longestPeriod = 4
const ringSize = 8
const maxAgents = 64
const maxRepeats = 1_000

interface Trail {
  /** The last calls, as a ring buffer. */
  readonly calls: (TraceCall | undefined)[]
  count: number
  /** By period: how many calls in a row equal the call that many before. */
  readonly runs: number[]
}

/** Finds one to four calls that repeatedly failed in the same way. A log has no trees, so repeated successes prove nothing. */
export function findRepeats() {
  const trails = new Map<string, Trail>()
  const found = cappedMap(
    maxRepeats,
    () => ({ calls: [] as readonly string[], times: 0 }),
    ({ times }) => times,
  )

  function trailOf(agentId: string): Trail {
    const known = trails.get(agentId)
    if (known !== undefined) return known
    const [oldest] = trails.keys()
    if (trails.size >= maxAgents && oldest !== undefined) trails.delete(oldest)
    const made: Trail = { calls: new Array(ringSize), count: 0, runs: [0, 0, 0, 0, 0] }
    trails.set(agentId, made)
    return made
  }

  function note(trail: Trail, period: number, times: number): void {
    const round = Array.from({ length: period }, (_, back) => before(trail, period - 1 - back))
    const calls = round.filter((call) => call !== undefined)
    if (!calls.some(({ result }) => result === 'failure') || calls.every(isQuiet)) return
    if (period > 1 && calls.every((call) => isSame(call, calls[0]))) return
    const names = calls.map(({ tool, label }) => callName(tool, label))
    const entry = found.at([...names].sort().join('\n'))
    if (times <= entry.times) return
    entry.calls = names
    entry.times = times
  }

  return {
    add: (call: TraceCall) => {
      const trail = trailOf(call.agentId ?? '')
      for (let period = 1; period <= longestPeriod; period += 1) {
        const repeats = isSame(call, before(trail, period - 1))
        const run = repeats ? (trail.runs[period] ?? 0) + 1 : 0
        trail.runs[period] = run
      }
      trail.calls[trail.count % ringSize] = call
      trail.count += 1
      for (let period = 1; period <= longestPeriod; period += 1) {
        const times = Math.floor((trail.runs[period] ?? 0) / period) + 1
        if (times >= rounds) note(trail, period, times)
      }
    },
    finish: (shown: number): RepeatFigure[] =>
      found
        .entries()
        .map(([, { calls, times }]) => ({ calls, times }))
        .toSorted((a, b) => b.times * b.calls.length - a.times * a.calls.length)
        .slice(0, shown),
  }
}

/** The call that many before the newest, which is number 0. */
function before(trail: Trail, back: number): TraceCall | undefined {
  return back < trail.count ? trail.calls[(trail.count - 1 - back) % ringSize] : undefined
}

function isSame(call: TraceCall, other: TraceCall | undefined): boolean {
  if (other === undefined || call.result !== other.result || call.tool !== other.tool) return false
  return call.signature === null ? call.label === other.label : call.signature === other.signature
}

function isQuiet({ tool, command, result }: TraceCall): boolean {
  const outcome = {
    kind: result === 'denied' ? 'unknown' : result,
    exitCode: null,
    signature: '',
    head: '',
  } as const
  const call: StoredCall = {
    id: null,
    tool,
    action: command === null ? 'unknown' : 'shell',
    paths: [],
    ...(command !== null && { command }),
    signature: '',
    input: null,
    outcome,
  }
  return isReadOnlyCall(call)
}

const maxNameChars = 200

export function callName(tool: string, label: string): string {
  const line = label.slice(0, maxNameChars).replaceAll(/\s+/g, ' ').trim()
  return line === '' ? tool : `${tool}: ${line}`
}
