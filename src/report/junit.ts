import type { TrialRecord } from '../core/trial.ts'
import type { FinishedRun, ReporterFactory, Sink, TrialHeader } from './contract.ts'
import { failureLines, splitReason } from './failure-lines.ts'
import { type CaseTotals, recordsByCase, tallied } from './records-by-case.ts'
import { notRunReason } from './run-text.ts'
import { agentName } from './trial-text.ts'

/** JUnit XML: a test suite per case, a test case per trial. */
export const junitReporter: ReporterFactory = ({ sink }) => ({
  runEnded: (run) => writeJunit(run, sink),
})

async function writeJunit(run: FinishedRun, sink: Sink): Promise<void> {
  const { cases, records } = await recordsByCase(run)
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
    sink.write(testCase(record, run))
    await sink.drain?.()
  }
  if (open !== null) sink.write('  </testsuite>\n')
  if (skipped > 0) sink.write(skippedSuite(run.notRun ?? anonymous(skipped), notRunReason(run)))
  sink.write('</testsuites>\n')
}

function testCase(record: TrialRecord, run: FinishedRun): string {
  const start = `    <testcase${xmlAttributes({
    name: `${agentName(record)} #${record.attempt}`,
    classname: record.case,
    file: record.file,
    time: seconds(record.durationMs),
  })}>\n${properties(record)}`
  return `${start}${outcome(record, run)}    </testcase>\n`
}

function outcome(record: TrialRecord, run: FinishedRun): string {
  const element = elementOf(record)
  if (element === null) return ''
  const { sentence, lines } = splitReason(record.reason)
  const text = [sentence, ...lines, ...failureLines(record, run.diagnose?.(record))].join('\n')
  const attributes = xmlAttributes({ message: sentence, type: record.verdict })
  return `      <${element}${attributes}>${escapeXml(text)}</${element}>\n`
}

function elementOf({ verdict }: TrialRecord): 'failure' | 'error' | null {
  switch (verdict) {
    case 'pass':
      return null
    case 'fail':
      return 'failure'
    case 'infra':
    case 'invalid':
      return 'error'
  }
}

function properties(record: TrialRecord): string {
  const values = {
    agent: record.agent,
    model: record.model,
    verdict: record.verdict,
    cost_usd: record.costUsd === null ? 'unmetered' : String(record.costUsd),
    ...(record.score === null ? {} : { score: String(record.score) }),
    ...(record.tier === null ? {} : { tier: record.tier }),
    ...(record.judge === null ? {} : { judge_score: String(record.judge.weighted_score) }),
    ...(record.cachedFrom === null ? {} : { cached_from: record.cachedFrom }),
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
  for (const { counts } of tallies) {
    total.counts.pass += counts.pass
    total.counts.fail += counts.fail
    total.counts.infra += counts.infra
    total.counts.invalid += counts.invalid
  }
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
 * Escapes text for XML. What XML 1.0 cannot carry even escaped (control characters, lone surrogates, U+FFFE, U+FFFF) becomes
 * U+FFFD. Quotes are escaped too, so that one function serves content and attributes; `]]>` cannot come out of it.
 */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"'\r]/g, (character) => entities[character] ?? character)
}

/** ` name="value"…`. White space is escaped as well: a parser would fold it to blanks. */
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
