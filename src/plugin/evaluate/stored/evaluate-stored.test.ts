import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { afterAll, expect, test } from 'vitest'
import {
  failedJudgement,
  sampleExecution,
  sampleJudgement,
  sampleKnown,
  sampleScenario,
  sampleTranscript,
} from '../../../../test/support/plugin-samples.ts'
import { readJsonIfExists } from '../../../io/files.ts'
import { pluginConfigSchema } from '../../config/keys/schema.ts'
import type { TrialEvaluation } from '../contract.ts'
import { createEvaluationFold } from '../metrics/create-evaluation-fold.ts'
import { evaluateStored, type StoredOptions } from './evaluate-stored.ts'
import type { StoredTrial } from './read-trial.ts'

const execution = (id: string) =>
  sampleExecution({
    trial: { id, scenario_id: id, arm: 'alone', rep: 1 },
    detected_tools: [
      { name: 'Skill', input: { skill: 'demo:greet' }, tool_use_id: 'x', timestamp: 1, success: true },
    ],
  })
const transcript = JSON.stringify(sampleTranscript([{ user: 'Say hello to Bob.' }, { assistant: 'Hello.' }]))

const fixture = await createFixture({
  good: { 'execution.json': JSON.stringify(execution('good')), 'transcript.json': transcript },
  'cut-transcript': {
    'execution.json': JSON.stringify(execution('cut-transcript')),
    'transcript.json': transcript.slice(0, transcript.length / 2),
  },
  'odd-transcript': {
    'execution.json': JSON.stringify(execution('odd-transcript')),
    'transcript.json': JSON.stringify({ metadata: { version: 'v3.0' }, events: [{ id: 1 }] }),
  },
  'no-transcript': { 'execution.json': JSON.stringify(execution('no-transcript')) },
  'cut-execution': { 'execution.json': JSON.stringify(execution('cut-execution')).slice(0, 400) },
  'odd-execution': {
    'execution.json': JSON.stringify({ ...execution('odd-execution'), detected_tools: [{ name: 7 }] }),
    'transcript.json': transcript,
  },
  'no-execution': { 'transcript.json': transcript },
  'of-another': { 'execution.json': JSON.stringify(execution('good')), 'transcript.json': transcript },
  'infra-and-cut': {
    'execution.json': JSON.stringify({
      ...execution('infra-and-cut'),
      failure: { reason: 'overloaded', message: '529' },
    }),
    'transcript.json': '{"metadata":',
  },
})
afterAll(() => fixture.rm())

function stored(id: string): StoredTrial {
  return {
    trial: { id, scenario_id: id, arm: 'alone', rep: 1 },
    scenario: sampleScenario({ id }),
    execution: () => readJsonIfExists(join(fixture.path, id, 'execution.json')),
    transcript: () => readJsonIfExists(join(fixture.path, id, 'transcript.json')),
  }
}

async function evaluate(trials: StoredOptions['trials'], more: Partial<StoredOptions> = {}) {
  const fold = createEvaluationFold({ plugin: 'demo', prices: {} })
  const kept = new Map<string, TrialEvaluation>()
  await evaluateStored({
    trials,
    known: sampleKnown,
    config: pluginConfigSchema.parse({}),
    fold,
    keep: (evaluation) => void kept.set(evaluation.trial.id, evaluation),
    ...more,
  })
  return { kept, summary: fold.finish() }
}

const all = [
  'good',
  'cut-transcript',
  'odd-transcript',
  'no-transcript',
  'cut-execution',
  'odd-execution',
  'no-execution',
  'of-another',
  'infra-and-cut',
]

test('a damaged trial is invalid and listed to run again, and other trials are not affected', async () => {
  const { kept, summary } = await evaluate(all.map(stored))
  expect(Object.fromEntries([...kept].map(([id, { verdict }]) => [id, verdict]))).toEqual({
    good: 'pass',
    'cut-transcript': 'invalid',
    'odd-transcript': 'invalid',
    'no-transcript': 'pass',
    'cut-execution': 'invalid',
    'odd-execution': 'invalid',
    'no-execution': 'invalid',
    'of-another': 'invalid',
    'infra-and-cut': 'infra',
  })
  expect(summary.counts).toEqual({ pass: 2, fail: 0, infra: 1, invalid: 6 })
  expect(summary.accuracy).toMatchObject({ value: 1, n: 2 })
  expect(summary.damaged).toEqual([
    'cut-execution',
    'cut-transcript',
    'no-execution',
    'odd-execution',
    'odd-transcript',
    'of-another',
  ])
  expect(kept.get('cut-transcript')?.reason).toMatch(
    /^its transcript is damaged: .* is not valid JSON; run trial cut-transcript again$/,
  )
  expect(kept.get('odd-transcript')?.reason).toContain('its transcript is damaged: events.0')
  expect(kept.get('no-execution')?.reason).toContain('its execution is missing')
  expect(kept.get('of-another')?.reason).toContain('its execution is of trial good')
})

test('the cost of a damaged trial is still counted', async () => {
  const { summary } = await evaluate([stored('cut-transcript'), stored('cut-execution')])
  expect(summary.costs).toMatchObject({ execution_cost_usd: 0.01, unmetered_trials: 1 })
})

test('judges and graders run for readable trials that happened, several at a time', async () => {
  let asking = 0
  let most = 0
  const asked: string[] = []
  const { kept, summary } = await evaluate(all.map(stored), {
    concurrency: 3,
    judge: async ({ trial }) => {
      asking += 1
      most = Math.max(most, asking)
      await new Promise((settle) => setImmediate(settle))
      asking -= 1
      asked.push(trial.id)
      return trial.id === 'good' ? sampleJudgement({ quality_score: 9 }) : failedJudgement()
    },
    grade: async () => ({
      gates: [{ gate: { type: 'regex', passed: true, message: '', detail: {} }, weight: 1, scored: true }],
      costUsd: 0.1,
    }),
  })
  expect(asked.sort()).toEqual(['good', 'no-transcript'])
  expect(most).toBeGreaterThan(1)
  expect(kept.size).toBe(all.length)
  expect(kept.get('good')).toMatchObject({ quality_score: 9, grader_score: 1, evaluation_cost_usd: 0.102 })
  expect(summary.judge).toMatchObject({ judged: 1, judge_errors: 1 })
})

test('an error that is not damage stops the evaluation and is thrown', async () => {
  const broken = { ...stored('good'), execution: () => Promise.reject(new Error('the disk is gone')) }
  await expect(evaluate([stored('good'), broken])).rejects.toThrow('the disk is gone')
})

test('a stopped evaluation starts no further trial', async () => {
  const stop = new AbortController()
  const kept: string[] = []
  const running = evaluate(['good', 'no-transcript'].map(stored), {
    signal: stop.signal,
    keep: ({ trial }) => {
      kept.push(trial.id)
      stop.abort()
    },
  })
  await expect(running).rejects.toThrow()
  expect(kept).toEqual(['good'])
})
