import { counted } from '../../core/counted.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { cappedMap } from './capped-map.ts'
import type { TraceCall, TraceItem } from './read-record.ts'
import { callName, findRepeats } from './repeats.ts'
import { openTimeline } from './timeline.ts'
import type {
  RefusalFigure,
  TimeFigures,
  TraceReport,
  TraceSource,
  VerificationFigure,
} from './trace-report.ts'

const maxFailures = 5_000
const shown = 10

/** Collects the report one item at a time. Memory is bounded, whatever the length of the log. */
export function foldTrace(options: { readonly editThreshold: number }) {
  const tools = countTools()
  const edits = countEditRounds(options.editThreshold)
  const repeats = findRepeats()
  const verification = countVerification()
  const failures = cappedMap(
    maxFailures,
    () => ({ count: 0 }),
    ({ count }) => count,
  )
  const refusals = countRefusals()
  const time = keepTime()
  const timeline = openTimeline()

  return {
    add: (item: TraceItem) => {
      if (item.atMs !== null) time.add(item.atMs)
      refusals.add(item)
      if (item.kind === 'refusal') {
        if (item.atMs !== null) timeline.add(item.atMs, 'refusal to stop', 'denied')
        return
      }
      tools.add(item)
      if (item.atMs !== null) timeline.add(item.atMs, item.tool, item.result)
      const run = verificationOf(item)
      if (run !== null) verification.add(run)
      edits.add(item, run?.kind === 'test' && run.result === 'passed')
      repeats.add(item)
      if (item.result === 'failure') failures.at(callName(item.tool, item.label)).count += 1
    },
    finish: (source: Omit<TraceSource, 'summed_up'>): TraceReport => {
      const { hotFiles, loops, dropped } = edits.finish(shown)
      const report: Omit<TraceReport, 'suggestions'> = {
        source: { ...source, summed_up: dropped + failures.dropped() + verification.dropped() },
        ...tools.finish(),
        hot_files: hotFiles,
        loops: { ...loops, repeats: repeats.finish(shown) },
        verification: verification.finish(),
        failures: failures
          .entries()
          .map(([call, { count }]) => ({ call, count }))
          .toSorted((a, b) => b.count - a.count)
          .slice(0, shown),
        time: time.finish(),
        refusals: refusals.finish(),
        timeline: timeline.finish(),
      }
      return { ...report, suggestions: suggestionsFor(report, edits.unverified()) }
    },
  }
}

const manyDenials = 5
const manyFailures = 3

/** Suggestions as imperative sentences. `unverified`: files edited after the last green test run. */
function suggestionsFor(report: Omit<TraceReport, 'suggestions'>, unverified: number): readonly string[] {
  const { loops, verification, failures, refusals, source, results, total } = report
  const found: string[] = []
  const { suggested_threshold: suggested, edits_until_green: until } = loops
  if (suggested !== null && suggested !== loops.edit_threshold)
    found.push(
      `Set loop_detection.edit_threshold to ${suggested}: in ${counted(until.rounds, 'round')} that ended green, 95% of the files took ${counted(until.p95 ?? 0, 'edit')} or fewer.`,
    )
  const [repeat] = loops.repeats
  if (repeat !== undefined)
    found.push(
      `Check these calls, which were repeated ${repeat.times} times without success: ${repeat.calls.join(', then ')}.`,
    )
  const tests = verification.filter(({ kind }) => kind === 'test')
  if (unverified > 0 && tests.length > 0)
    found.push(
      `Run the tests: ${counted(unverified, 'file')} ${unverified === 1 ? 'was' : 'were'} edited after the last passing test run.`,
    )
  // A declared command that is no known runner counts as well.
  if (report.hot_files.length > 0 && !verification.some(({ kind }) => kind === 'test' || kind === 'other'))
    found.push(
      'Run the tests: files were edited and none ran. If the guard does not know their command, declare it, for example in AGENTS.md.',
    )
  // Failing tests are normal.
  const failure = failures.find(({ call }) => !verification.some(({ command }) => call.endsWith(command)))
  if (failure !== undefined && failure.count >= manyFailures)
    found.push(
      `See why this failed ${failure.count} times, or give the agent an alternative: ${failure.call}`,
    )
  for (const { rule, denied } of refusals)
    if (denied >= manyDenials)
      found.push(
        `Explain in the prompt or in AGENTS.md what ${rule} forbids: it denied ${counted(denied, 'call')}.`,
      )
  if (total > 0 && results.unknown / total > 0.5)
    found.push('Read the results with care: the agent did not report the result of most calls.')
  if (source.broken_lines > 0)
    found.push(`Look at the log: ${counted(source.broken_lines, 'line')} of it could not be read.`)
  return found
}

/** The time span of a log. A clock that goes back does not produce negative time. */
function keepTime(): { add(atMs: number): void; finish(): TimeFigures } {
  let firstMs: number | null = null
  let latestMs = 0
  let longestPauseMs = 0
  return {
    add: (atMs) => {
      if (firstMs === null) {
        firstMs = atMs
        latestMs = atMs
      }
      longestPauseMs = Math.max(longestPauseMs, atMs - latestMs)
      latestMs = Math.max(latestMs, atMs)
    },
    finish: () => ({
      started_at: firstMs === null ? null : new Date(firstMs).toISOString(),
      ended_at: firstMs === null ? null : new Date(latestMs).toISOString(),
      span_ms: firstMs === null ? 0 : latestMs - firstMs,
      longest_pause_ms: longestPauseMs,
    }),
  }
}

const maxRules = 200
/** A denial that names no rule of ours: from a person or from the agent's own settings. */
const notOurs = 'outside the guard'

function countRefusals(): { add(item: TraceItem): void; finish(): readonly RefusalFigure[] } {
  const rules = cappedMap(
    maxRules,
    () => ({ denied: 0, refused: 0 }),
    ({ denied, refused }) => denied + refused,
  )
  return {
    add: (item) => {
      if (item.kind === 'refusal') rules.at(item.rule)[item.verdict === 'deny' ? 'denied' : 'refused'] += 1
      else if (item.result === 'denied') rules.at(item.rule ?? notOurs).denied += 1
    },
    finish: () =>
      rules
        .entries()
        .map(([rule, counts]) => ({ rule, ...counts }))
        .toSorted((a, b) => b.denied + b.refused - (a.denied + a.refused)),
  }
}

const maxTools = 1_000

function countTools() {
  const results = { success: 0, failure: 0, denied: 0, unknown: 0 }
  let total = 0
  const tools = cappedMap(
    maxTools,
    () => ({ calls: 0, failures: 0, denials: 0, durationMs: 0, timed: 0 }),
    ({ calls }) => calls,
  )
  return {
    add: ({ tool, result, durationMs }: TraceCall) => {
      total += 1
      results[result] += 1
      const figures = tools.at(tool)
      figures.calls += 1
      if (result === 'failure') figures.failures += 1
      if (result === 'denied') figures.denials += 1
      if (durationMs === null) return
      figures.timed += 1
      figures.durationMs += durationMs
    },
    finish: () => ({
      total,
      results,
      tools: tools
        .entries()
        .map(([tool, { calls, failures, denials, durationMs, timed }]) => ({
          tool,
          calls,
          share: calls / total,
          failures,
          denials,
          duration_ms: timed === 0 ? null : durationMs,
        }))
        .toSorted((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    }),
  }
}

interface VerificationCall {
  readonly command: string
  readonly kind: VerificationFigure['kind']
  readonly result: 'passed' | 'failed' | 'unknown'
}

const maxCommands = 20_000
const maxKnown = 20_000
const known = new Map<string, VerificationCall['kind'] | null>()

/** null when the call is not a test, lint or build command, nor a declared one. The result is unknown when a later command masks the exit code. */
function verificationOf({ command, result, verifies }: TraceCall): VerificationCall | null {
  if (command === null || result === 'denied') return null
  const kind = kindOf(command) ?? verifies
  if (kind === null) return null
  const isMasked = /[|;\n]/.test(command) && !command.includes('pipefail')
  const end = result === 'success' ? 'passed' : result === 'failure' ? 'failed' : 'unknown'
  return { command, kind, result: isMasked ? 'unknown' : end }
}

/** Commands that differ only in a page or step count as the same. */
const digits = /\d+/g

function kindOf(command: string): VerificationCall['kind'] | null {
  const key = command.replaceAll(digits, '0')
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const found = kindOfCommand(command)
  const kind = found === 'other' ? null : found
  if (known.size >= maxKnown) known.clear()
  known.set(key, kind)
  return kind
}

function countVerification() {
  const commands = cappedMap(
    maxCommands,
    () => ({ kind: 'test' as VerificationCall['kind'], runs: 0, passed: 0, failed: 0 }),
    ({ runs }) => runs,
  )
  return {
    add: ({ command, kind, result }: VerificationCall): void => {
      const figures = commands.at(command)
      figures.kind = kind
      figures.runs += 1
      if (result === 'passed') figures.passed += 1
      if (result === 'failed') figures.failed += 1
    },
    dropped: (): number => commands.dropped(),
    finish: (): readonly VerificationFigure[] =>
      commands
        .entries()
        .map(([command, figures]) => ({ command, ...figures }))
        .toSorted((a, b) => b.runs - a.runs),
  }
}

const maxFiles = 20_000
/** Rounds with more edits count as this many for percentiles. */
const maxRoundEdits = 500
/** Minimum number of rounds for a suggestion. */
const minRounds = 5
const leastThreshold = 3

interface FileEdits {
  edits: number
  most: number
  /** Edits since the last green test run. */
  open: number
}

/** Counts edits per file, and edits per file until tests were green. A threshold should be above that. */
function countEditRounds(editThreshold: number) {
  const files = cappedMap(
    maxFiles,
    (): FileEdits => ({ edits: 0, most: 0, open: 0 }),
    ({ edits }) => edits,
  )
  let pending: FileEdits[] = []
  const rounds = new Float64Array(maxRoundEdits + 1)
  let roundCount = 0

  const percentile = (share: number): number | null => {
    if (roundCount === 0) return null
    let seen = 0
    const at = rounds.findIndex((count) => {
      seen += count
      return seen >= Math.ceil(share * roundCount)
    })
    return at
  }

  return {
    /** `green`: the call is a test run that passed. */
    add: ({ edits, result }: TraceCall, green: boolean): void => {
      if (green) {
        for (const file of pending) {
          const at = Math.min(file.open, maxRoundEdits)
          rounds[at] = (rounds[at] ?? 0) + 1
          roundCount += 1
          file.open = 0
        }
        pending = []
      }
      if (result === 'failure' || result === 'denied') return
      for (const path of edits) {
        const file = files.at(path)
        if (file.open === 0 && pending.length < maxFiles) pending.push(file)
        file.open += 1
        file.edits += 1
        file.most = Math.max(file.most, file.open)
      }
    },
    unverified: (): number => pending.length,
    finish: (shown: number) => {
      const all = files.entries().toSorted(([, a], [, b]) => b.edits - a.edits)
      const p95 = percentile(0.95)
      return {
        hotFiles: all.slice(0, shown).map(([path, { edits, most }]) => ({
          path,
          edits,
          most_before_green: most,
          potential_loop: edits >= editThreshold,
        })),
        loops: {
          edit_threshold: editThreshold,
          files: all.filter(([, { edits }]) => edits >= editThreshold).length,
          edits_until_green: { rounds: roundCount, median: percentile(0.5), p95 },
          suggested_threshold:
            p95 === null || roundCount < minRounds ? null : Math.max(leastThreshold, p95 + 1),
        },
        dropped: files.dropped(),
      }
    },
  }
}
