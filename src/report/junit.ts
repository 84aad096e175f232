import { shorten } from '../core/shorten.ts'
import type { TrialRecord } from '../core/trial.ts'
import { type Verdict, verdicts } from '../core/verdict.ts'
import { allowedFailures, whyAllowed } from './case-verdict.ts'
import type { FinishedRun, ReporterFactory, Sink, TrialHeader } from './contract.ts'
import { changeLines, failureLines, splitReason } from './failure-lines.ts'
import { plainLine } from './plain-text.ts'
import { notRunReason } from './run-sentence.ts'
import { agentName, modelsUsed } from './trial-sentences.ts'

/** JUnit XML: a test suite per case, a test case per trial. */
export const junitReporter: ReporterFactory = ({ sink }) => ({ runEnded: (run) => writeJunit(run, sink) })

async function writeJunit(run: FinishedRun, sink: Sink): Promise<void> {
  const isAllowed = allowedFailures(run.summary)
  const { cases, records } = await recordsByCase(run, isAllowed)
  const skipped = run.notRun?.length ?? run.summary.notRun
  const all = sum([...cases.values()])
  sink.write(
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${xmlAttributes({
      name: run.title,
      ...suiteCounts(all, skipped),
      time: seconds(run.summary.durationMs),
      timestamp: run.startedAt,
    })}>\n`,
  )
  let open: string | null = null
  for await (const record of records()) {
    if (record.case !== open) {
      const tally = cases.get(record.case)
      if (open !== null) sink.write('  </testsuite>\n')
      if (tally !== undefined) sink.write(suiteStart(record.case, suiteCounts(tally, 0), tally.durationMs))
      open = record.case
    }
    sink.write(testCase(record, run, isAllowed(record)))
    await sink.drain?.()
  }
  if (open !== null) sink.write('  </testsuite>\n')
  if (skipped > 0) sink.write(skippedSuite(run.notRun ?? anonymous(skipped), notRunReason(run)))
  sink.write('</testsuites>\n')
}

function testCase(record: TrialRecord, run: FinishedRun, isAllowed: boolean): string {
  const start = `    <testcase${xmlAttributes({
    name: `${agentName(record)} #${record.attempt}`,
    classname: record.case,
    file: record.file,
    time: seconds(record.durationMs),
  })}>\n${properties(record)}`
  return `${start}${outcome(record, run, isAllowed)}    </testcase>\n`
}

/** A failure within the run's threshold is output, because most readers of JUnit would fail the build for it. */
function outcome(record: TrialRecord, run: FinishedRun, isAllowed: boolean): string {
  const element = elements[record.verdict]
  if (element === null) {
    const warnings = record.warnings.map((warning) => `warning: ${plainLine(warning)}`)
    const output = [...warnings, ...changeLines(run.workspaceDiff?.(record) ?? null)].join('\n')
    return output === '' ? '' : `      <system-out>${escapeXml(output)}</system-out>\n`
  }
  const { sentence, lines } = splitReason(record.reason)
  const text = [sentence, ...lines, ...failureLines(record, run)].join('\n')
  if (isAllowed) return `      <system-out>${escapeXml(`${whyAllowed(record)}: ${text}`)}</system-out>\n`
  const attributes = xmlAttributes({ message: sentence, type: record.verdict })
  return `      <${element}${attributes}>${escapeXml(text)}</${element}>\n`
}

const elements = { pass: null, fail: 'failure', infra: 'error', invalid: 'error' } as const

function properties(record: TrialRecord): string {
  const values = {
    agent: record.agent,
    model: modelsUsed(record),
    verdict: record.verdict,
    cost_usd: record.costUsd === null ? 'unmetered' : String(record.costUsd),
    ...(record.score === null ? {} : { score: String(record.score) }),
    ...(record.tier === null ? {} : { tier: record.tier }),
    ...(record.judge === null ? {} : { judge_score: String(record.judge.weighted_score) }),
    ...(record.cachedFrom === null ? {} : { cached_from: record.cachedFrom }),
    ...(record.prompt === undefined ? {} : { prompt: shorten(record.prompt, 2_000) }),
    dir: record.dir,
  }
  const lines = Object.entries(values).map(
    ([name, value]) => `        <property${xmlAttributes({ name, value })}/>\n`,
  )
  return `      <properties>\n${lines.join('')}      </properties>\n`
}

function skippedSuite(trials: readonly TrialHeader[], reason: string): string {
  const rows = trials.map(
    (trial) =>
      `    <testcase${xmlAttributes({ name: `${agentName(trial)} #${trial.attempt}`, classname: trial.case, time: '0.000' })}>\n` +
      `      <skipped${xmlAttributes({ message: reason })}/>\n    </testcase>\n`,
  )
  const counts = { tests: String(trials.length), failures: '0', errors: '0', skipped: String(trials.length) }
  return `${suiteStart('not run', counts, 0)}${rows.join('')}  </testsuite>\n`
}

function suiteStart(name: string, counts: Readonly<Record<string, string>>, durationMs: number): string {
  return `  <testsuite${xmlAttributes({ name, ...counts, time: seconds(durationMs) })}>\n`
}

function suiteCounts(tally: CaseTotals, skipped: number): Readonly<Record<string, string>> {
  return {
    tests: String(tallied(tally) + skipped),
    failures: String(tally.counts.fail),
    errors: String(tally.counts.infra + tally.counts.invalid),
    skipped: String(skipped),
  }
}

function sum(tallies: readonly CaseTotals[]): CaseTotals {
  const total: CaseTotals = { counts: { pass: 0, fail: 0, infra: 0, invalid: 0 }, durationMs: 0 }
  for (const { counts } of tallies) for (const verdict of verdicts) total.counts[verdict] += counts[verdict]
  return total
}

function anonymous(count: number): TrialHeader[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `not-run-${index + 1}`,
    case: 'not run',
    agent: 'planned trial',
    model: 'default',
    attempt: index + 1,
  }))
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/**
 * Escapes text for XML. Characters that XML 1.0 cannot represent even escaped (control characters, lone surrogates, U+FFFE,
 * U+FFFF) become U+FFFD. Quotes are escaped too, so that one function serves content and attributes; the result never contains
 * `]]>`.
 */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"'\r]/g, (character) => entities[character] ?? character)
}

/** ` name="value"…`. White space is escaped too, because a parser would normalise it to blanks. */
export function xmlAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(
      ([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
    )
    .join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
}

interface CaseTotals {
  readonly counts: Record<Verdict, number>
  durationMs: number
}

/**
 * Totals per case, and the records grouped by case. If a plan interleaves its cases, the records are read several times, a batch
 * of cases at a time, so that memory does not grow with the run.
 */
async function recordsByCase(
  run: FinishedRun,
  /** Failures that count as passed. */
  isAllowed: (record: TrialRecord) => boolean = () => false,
  batchTrials = 500,
) {
  const cases = new Map<string, CaseTotals>()
  let blocks = 0
  let last: string | null = null
  for await (const record of run.records()) {
    const { case: name, verdict, durationMs } = record
    if (name !== last) blocks += 1
    last = name
    const tally = cases.get(name) ?? { counts: { pass: 0, fail: 0, infra: 0, invalid: 0 }, durationMs: 0 }
    tally.counts[isAllowed(record) ? 'pass' : verdict] += 1
    tally.durationMs += durationMs
    cases.set(name, tally)
  }
  const together = blocks === cases.size
  return { cases, records: together ? run.records : () => regrouped(run, batches(cases, batchTrials)) }
}

function tallied({ counts }: CaseTotals): number {
  return counts.pass + counts.fail + counts.infra + counts.invalid
}

async function* regrouped(run: FinishedRun, batches: readonly string[][]): AsyncGenerator<TrialRecord> {
  for (const batch of batches) {
    const [only, ...others] = batch
    if (only !== undefined && others.length === 0) {
      for await (const record of run.records()) if (record.case === only) yield record
      continue
    }
    const held = new Map(batch.map((name): [string, TrialRecord[]] => [name, []]))
    for await (const record of run.records()) held.get(record.case)?.push(record)
    for (const records of held.values()) yield* records
  }
}

function batches(cases: ReadonlyMap<string, CaseTotals>, batchTrials: number): string[][] {
  const found: string[][] = []
  let room = 0
  for (const [name, tally] of cases) {
    const size = tallied(tally)
    const current = found.at(-1)
    if (current !== undefined && size <= room) current.push(name)
    else {
      found.push([name])
      room = batchTrials
    }
    room -= size
  }
  return found
}
