import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { sampleRecord, sampleRun, streamed } from '../../test/support/sample-run.ts'
import type { GantryEvent } from '../core/event.ts'
import type { TrialRecord } from '../core/trial.ts'
import { openReporter, parseReporterSpec, reporterNames } from './index.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const trials = 5_000

/** About 4 KB each: 20 MB if a reporter kept them. */
function record(index: number): TrialRecord {
  const detail = { exit_code: 1, output: `${index} some line of output\n`.repeat(150) }
  return sampleRecord({
    case: `case-${index % 50}`,
    attempt: Math.floor(index / 50) + 1,
    verdict: index % 3 === 0 ? 'fail' : 'pass',
    reason: `reason of ${index}`,
    gates: [{ type: 'command_succeeds', passed: index % 3 !== 0, message: `exit code of ${index}`, detail }],
  })
}

async function* made(onRecord: () => void): AsyncGenerator<TrialRecord> {
  for (let index = 0; index < trials; index++) {
    onRecord()
    yield record(index)
  }
}

const small = sampleRun(Array.from({ length: trials }, (_, index) => ({ ...record(index), gates: [] })))

/** `blob` copies the files of the run, one trial at a time, and writes to no sink. */
const streamingReporters = reporterNames.filter((name) => name !== 'blob')

test.each(streamingReporters)('%s: five thousand trials pass through with flat memory', async (text) => {
  const { name } = parseReporterSpec(text)
  let bytes = 0
  let largestGrowth = 0
  let base: number | null = null
  let calls = 0
  const measure = (): void => {
    calls += 1
    if (calls !== 500 && calls !== 2_500 && calls % 9_500 !== 4_500) return
    collectGarbage()
    const used = process.memoryUsage().heapUsed
    base ??= used
    largestGrowth = Math.max(largestGrowth, used - base)
  }
  const write = (piece: string): void => {
    bytes += piece.length
  }
  const reporter = await openReporter(name, { sink: { write }, color: false, columns: 80, live: false })
  const event: GantryEvent = { ts: 1, event: 'message', role: 'assistant', text: 'hello' }
  const run = { ...small, records: () => made(measure), events: () => streamed([event]) }
  reporter.runStarted?.(run)
  if (reporter.trialEnded !== undefined)
    for (let index = 0; index < trials; index++) reporter.trialEnded(record(index))
  await reporter.runEnded?.(run)
  expect(bytes).toBeGreaterThan(1_000)
  expect(largestGrowth).toBeLessThan(7_000_000)
})
