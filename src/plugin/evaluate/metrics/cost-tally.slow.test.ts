import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  sampleEvaluation,
  sampleExecution,
  sampleJudgement,
  sampleScenario,
} from '../../../../test/support/plugin-samples.ts'
import { createSummary } from '../../../core/create-summary.ts'
import type { TokenUsage } from '../../../core/trial.ts'
import { formatCost } from '../../../report/quantity.ts'
import { asideUsd, trialRecord } from '../../pipeline/run-evaluation.ts'
import { evaluationSections } from '../../report/evaluation-view.ts'
import { createEvaluationFold } from './create-evaluation-fold.ts'

const prices = { big: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }
const usd = fc.integer({ min: 0, max: 5_000_000 }).map((micro) => micro / 1_000_000)
const unknown = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 8 })
const tokens = fc.record({
  input: fc.nat(100_000),
  output: fc.nat(5_000),
  cacheRead: fc.nat(100_000),
  cacheWrite: fc.nat(20_000),
})
const model = fc.constantFrom('big', 'small', 'mine')
const use = fc.record({ model, tokens, cost_usd: unknown(usd) })
const trial = fc.record({
  arm: fc.constantFrom('without' as const, 'alone' as const, 'crowd' as const),
  cost: unknown(usd),
  earlier: fc.oneof(fc.constant(0), usd),
  usage: fc.array(fc.record({ model, tokens, costUsd: unknown(usd) }), { maxLength: 3 }),
  judge: fc.option(use),
  graders: fc.option(use),
})
const other = fc.record({
  written: fc.array(use, { maxLength: 3 }),
  lost: fc.oneof(fc.constant(0), usd),
  lostUse: fc.array(use, { maxLength: 2 }),
})

test('manifest, summary, ledger and report have one total, to the cent, whatever was paid for', () => {
  fc.assert(
    fc.property(fc.array(trial, { maxLength: 12 }), other, (trials, { written, lost, lostUse }) => {
      const fold = createEvaluationFold({ plugin: 'demo', prices })
      const summary = createSummary({})
      let recordedUsd = 0
      for (const [index, { arm, cost, earlier, usage, judge, graders }] of trials.entries()) {
        const id = { id: `s${index}.${arm}-1`, scenario_id: `s${index}`, arm, rep: 1 }
        const execution = sampleExecution({
          trial: id,
          model_usage: usage,
          cost_usd: cost === null ? null : cost + earlier,
          ...(earlier > 0 && { earlier_cost_usd: earlier }),
        })
        const judgement = judge === null ? null : sampleJudgement(judge)
        const asked = [judge, graders].map((one) => (one === null ? 0 : one.cost_usd))
        const evaluation = {
          ...sampleEvaluation({ scenario: id.scenario_id }).evaluation,
          trial: id,
          scenario_id: id.scenario_id,
          cost_usd: execution.cost_usd,
          judgement,
          evaluation_cost_usd: asked.includes(null) ? null : (asked[0] ?? 0) + (asked[1] ?? 0),
          ...(graders !== null && { grader_usage: graders }),
        }
        fold.add(evaluation, execution)
        if (arm === 'without') continue
        const record = trialRecord(evaluation, execution, sampleScenario({ id: id.scenario_id }), {
          file: '',
          line: 1,
          agent: 'a',
          model: 'm',
          dir: '/x',
          showArm: true,
          startedAt: '',
        })
        summary.add(record)
        recordedUsd += record.costUsd ?? 0
      }
      const lost_cost_usd = lostUse.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), lost)
      const generation_cost_usd = written.some(({ cost_usd }) => cost_usd === null)
        ? null
        : written.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
      const whole = fold.finish({
        generation_usage: written,
        generation_cost_usd,
        lost_cost_usd,
        lost_usage: lostUse,
      })
      const { costs } = whole
      const paid = (stage?: string): number =>
        costs.ledger.reduce(
          (sum, row) => sum + (row.stage === (stage ?? row.stage) ? (row.paid_usd ?? 0) : 0),
          0,
        )
      const total = costs.total_cost_usd
      expect(paid()).toBeCloseTo(total, 6)
      expect(costs.execution_cost_usd).toBeCloseTo(paid('execution'), 6)
      expect(costs.evaluation_cost_usd).toBeCloseTo(paid('evaluation'), 6)
      if (generation_cost_usd !== null) expect(costs.generation_cost_usd).toBeCloseTo(generation_cost_usd, 6)
      const known =
        trials.reduce(
          (sum, { cost, earlier, judge, graders }) =>
            sum + (cost === null ? 0 : cost + earlier) + (judge?.cost_usd ?? 0) + (graders?.cost_usd ?? 0),
          0,
        ) +
        written.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0) +
        lost_cost_usd
      expect(total).toBeCloseTo(known, 6)
      const run = summary.finish({ durationMs: 1, asideCostUsd: asideUsd(whole, recordedUsd) })
      if (run.costUsd !== null) expect(run.costUsd).toBeCloseTo(total, 6)
      else expect(total).toBeCloseTo(0, 6)
      const section = evaluationSections(whole, noAnalysis).find(({ title }) => title === 'Cost')
      if (total > 0) {
        expect(section?.lead).toContain(`${formatCost(run.costUsd)} in total`)
        expect(section?.rows.at(-1)?.at(-2)).toBe(formatCost(total))
      }
      // By model: the list price and the tokens of every stage, those of the judge too.
      const inOf = (rows: readonly { readonly tokens: TokenUsage | null }[]): number =>
        rows.reduce((sum, row) => sum + (row.tokens?.input ?? 0), 0)
      expect(inOf(costs.by_model)).toBe(
        trials.reduce(
          (sum, { usage, judge, graders }) =>
            sum + inOf(usage) + (judge?.tokens.input ?? 0) + (graders?.tokens.input ?? 0),
          inOf(written) + inOf(lostUse),
        ),
      )
    }),
    { numRuns: 300 },
  )
})

const noAnalysis = {
  components: { skills: [], agents: [], commands: [], hooks: [], mcp_servers: [] },
  findings: [],
  listing: { budget_characters: 0, used_characters: 0, entries: [] },
}
