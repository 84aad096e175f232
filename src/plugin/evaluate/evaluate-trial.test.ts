import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  failedJudgement,
  type SampleLine,
  sampleExecution,
  sampleInput,
  sampleJudgement,
  sampleKnown,
  sampleScenario,
  sampleTranscript,
} from '../../../test/support/plugin-samples.ts'
import type { Arm } from '../contract.ts'
import type { Execution } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { ambiguityOf } from './decide-trigger.ts'
import { evaluateTrial } from './evaluate-trial.ts'
import { firedLabel } from './metrics/scenario-tally.ts'

interface Row {
  readonly name: string
  readonly scenario: Partial<PluginScenario>
  readonly arm: Arm
  readonly execution: Partial<Execution>
  readonly transcript?: readonly SampleLine[]
  readonly judge?: boolean | 'error'
  readonly config?: Record<string, unknown>
  readonly expect: {
    readonly verdict: string
    readonly triggered: boolean
    readonly confidence?: number
    readonly source?: string
    readonly conflict?: string
    readonly conflict_reason?: string
    readonly ambiguous?: boolean
    readonly quality?: number | null
    /** In any order. */
    readonly fired?: readonly string[]
    readonly gates?: readonly string[]
    /** Parts of it. */
    readonly reason?: string
    readonly evidence?: string
    readonly issues?: readonly string[]
  }
}

const corpus = join(import.meta.dirname, '../../../test/corpus/plugin/detections.jsonl')
const rows = readFileSync(corpus, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Row => JSON.parse(line))

function evaluate({ scenario: asked, arm, execution: traces, transcript, judge, config }: Row) {
  const scenario = sampleScenario(asked)
  const execution = sampleExecution({
    trial: { id: `t.${arm}`, scenario_id: scenario.id, arm, rep: 1 },
    ...traces,
  })
  const input = sampleInput(
    {
      known: sampleKnown,
      scenario,
      execution,
      transcript: transcript === undefined ? null : sampleTranscript(transcript),
      judgement:
        judge === undefined
          ? null
          : judge === 'error'
            ? failedJudgement()
            : sampleJudgement({ triggered: judge }),
    },
    config,
  )
  return { input, evaluation: evaluateTrial(input) }
}

test.each(rows)('$name', (row) => {
  const { input, evaluation } = evaluate(row)
  const { expect: wanted } = row
  const { verdict, triggered, confidence, detection_source: source } = evaluation
  expect({ verdict, triggered, reason: evaluation.reason }).toEqual({
    verdict: wanted.verdict,
    triggered: wanted.triggered,
    reason: expect.stringContaining(wanted.reason ?? ''),
  })
  if (wanted.confidence !== undefined) expect(confidence).toBe(wanted.confidence)
  if (wanted.source !== undefined) expect(source).toBe(wanted.source)
  if (wanted.conflict !== undefined) expect(evaluation.conflict.conflict_severity).toBe(wanted.conflict)
  expect(evaluation.conflict.has_conflict).toBe(evaluation.conflict.conflict_severity !== 'none')
  if (wanted.conflict_reason !== undefined)
    expect(evaluation.conflict.conflict_reason).toContain(wanted.conflict_reason)
  if (wanted.quality !== undefined) expect(evaluation.quality_score).toBe(wanted.quality)
  if (wanted.evidence !== undefined) expect(evaluation.evidence.join('\n')).toContain(wanted.evidence)
  if (wanted.gates !== undefined) expect(evaluation.gates.map(({ type }) => type)).toEqual(wanted.gates)
  if (wanted.fired !== undefined)
    expect(evaluation.detections.map((one) => firedLabel(one, 'demo')).sort()).toEqual(
      wanted.fired.toSorted(),
    )
  if (wanted.issues !== undefined) {
    expect(evaluation.issues).toHaveLength(wanted.issues.length)
    for (const [index, issue] of wanted.issues.entries()) expect(evaluation.issues[index]).toContain(issue)
  }
  if (wanted.ambiguous !== undefined)
    expect(
      ambiguityOf({ ...input, detections: evaluation.detections.filter((one) => one.source !== 'llm') }) !==
        null,
    ).toBe(wanted.ambiguous)
})

test('the corpus contains every required shape', () => {
  const names = rows.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(rows.length).toBeGreaterThanOrEqual(60)
  const has = (part: string) => names.some((name) => name.includes(part))
  for (const shape of ['late', 'twice', 'instead', 'inside a subagent', 'nothing fires', 'should stay quiet'])
    expect({ shape, found: has(shape) }).toEqual({ shape, found: true })
})

describe('graders', () => {
  const gate = (type: string, passed: boolean) => ({ type, passed, message: `${type} said so`, detail: {} })
  const fired = sampleExecution({
    detected_tools: [
      { name: 'Skill', input: { skill: 'demo:greet' }, tool_use_id: 'x', timestamp: 1, success: true },
    ],
  })

  test('the trigger comes first, and a grader that fails fails the trial', () => {
    const graderGates = [
      { gate: gate('regex', true), weight: 3, scored: true },
      { gate: gate('file_exists', false), weight: 1, scored: true },
    ]
    const found = evaluateTrial(sampleInput({ known: sampleKnown, execution: fired, graderGates }))
    expect(found.gates.map(({ type }) => type)).toEqual(['component_triggered', 'regex', 'file_exists'])
    expect(found).toMatchObject({
      verdict: 'fail',
      grader_score: 0.75,
      reason: '1 of 2 graders failed: file_exists said so',
    })
  })

  test('a grader that is not scored is shown and does not decide', () => {
    const graderGates = [{ gate: gate('tool_used', false), weight: 1, scored: false }]
    const found = evaluateTrial(sampleInput({ known: sampleKnown, execution: fired, graderGates }))
    expect(found).toMatchObject({ verdict: 'pass', grader_score: null })
    expect(found.gates).toHaveLength(2)
  })

  test('a grader that could not run makes the trial infra, not fail', () => {
    const graderGates = [{ gate: gate('llm', false), weight: 1, scored: true, error: 'no model' }]
    const found = evaluateTrial(sampleInput({ known: sampleKnown, execution: fired, graderGates }))
    expect(found).toMatchObject({
      verdict: 'infra',
      grader_score: null,
      reason: 'grader llm could not run: no model',
    })
  })

  test('without a component graders alone decide', () => {
    const scenario = sampleScenario({ component_ref: '', expected_component: '' })
    const graderGates = [{ gate: gate('regex', true), weight: 1, scored: true }]
    const found = evaluateTrial(sampleInput({ known: sampleKnown, scenario, graderGates }))
    expect(found).toMatchObject({ verdict: 'pass', grader_score: 1, reason: 'the grader passed' })
    expect(found.gates.map(({ type }) => type)).toEqual(['regex'])
  })

  test('a scenario that checks nothing is invalid', () => {
    const scenario = sampleScenario({ component_ref: '', expected_component: '' })
    expect(evaluateTrial(sampleInput({ known: sampleKnown, scenario })).verdict).toBe('invalid')
  })

  test('graders of a crashed agent saw unfinished work', () => {
    const graderGates = [{ gate: gate('regex', true), weight: 1, scored: true }]
    const execution = { ...fired, ending: 'crashed' as const }
    expect(evaluateTrial(sampleInput({ known: sampleKnown, execution, graderGates })).verdict).toBe('infra')
  })

  test('costs of graders and judge are added, and unknown stays unknown', () => {
    const cost = (graderCostUsd: number | null, judged: number | null) =>
      evaluateTrial(
        sampleInput({
          known: sampleKnown,
          execution: fired,
          judgement: sampleJudgement({ cost_usd: judged }),
          graderCostUsd,
        }),
      ).evaluation_cost_usd
    expect(cost(0.5, 0.25)).toBe(0.75)
    expect(cost(null, 0.25)).toBeNull()
    expect(cost(0.5, null)).toBeNull()
  })
})
