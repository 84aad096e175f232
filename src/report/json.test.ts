import { expect, test } from 'vitest'
import {
  sampleRecords,
  sampleRegressions,
  sampleRun,
  streamed,
  textSink,
} from '../../test/support/sample-run.ts'
import type { TrialRecord } from '../core/trial.ts'
import { jsonReporter } from './json.ts'

const context = { color: false, columns: 80, live: false }

test('one document contains the run, its summary and every trial unchanged', async () => {
  const sink = textSink()
  const run = sampleRun(sampleRecords, { regressions: sampleRegressions })
  await jsonReporter({ ...context, sink }).runEnded?.(run)
  expect(JSON.parse(sink.text())).toEqual({
    schema_version: 1,
    gantry_version: '0.1.0',
    run_id: 'run_20260102_030405_abc123',
    run_dir: '/artifacts/runs/run_20260102_030405_abc123',
    title: 'notes suite',
    started_at: '2026-01-02T03:04:05.000Z',
    ended_at: '2026-01-02T03:06:10.000Z',
    interrupted: false,
    summary: run.summary,
    trials: sampleRecords,
  })
  expect(sink.text().split('\n')).toHaveLength(sampleRecords.length + 3)
})

test('a run without trials is a valid document', async () => {
  const sink = textSink()
  await jsonReporter({ ...context, sink }).runEnded?.(sampleRun([]))
  expect(JSON.parse(sink.text())).toMatchObject({ trials: [], summary: { trials: 0 } })
})

test('records that cannot be read completely leave valid JSON with an error', async () => {
  const sink = textSink()
  const records = async function* (): AsyncGenerator<TrialRecord> {
    yield* streamed(sampleRecords.slice(0, 2))
    throw new Error('disk gone')
  }
  const ending = jsonReporter({ ...context, sink }).runEnded?.(sampleRun(sampleRecords, { records }))
  await expect(ending).rejects.toThrow('disk gone')
  const document = JSON.parse(sink.text())
  expect(document.trials).toHaveLength(2)
  expect(document.error).toContain('disk gone')
})
