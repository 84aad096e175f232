import { expect, test } from 'vitest'
import { type SampleTrial, sampleEvaluation, samplePlugin } from '../../../test/support/plugin-samples.ts'
import type { ReportSection } from '../../report/contract.ts'
import type { Analysis } from '../analyze/contract.ts'

import { createEvaluationFold, type EvaluationSummary } from '../evaluate/metrics/create-evaluation-fold.ts'
import { evaluationSections, evaluationView } from './evaluation-view.ts'

const plugin = samplePlugin('demo', { skill: ['greet', 'farewell'], command: ['hi'] })
const facts: Pick<Analysis, 'components' | 'findings' | 'listing'> = {
  components: {
    ...plugin.components,
    skills: plugin.components.skills.map((one) => ({ ...one, path: `skills/${one.name}/SKILL.md`, line: 3 })),
  },
  findings: [],
  listing: { budget_characters: 8000, used_characters: 100, entries: [] },
}

function summaryOf(trials: readonly SampleTrial[]): EvaluationSummary {
  const fold = createEvaluationFold({ plugin: 'demo', prices: {} })
  for (const trial of trials) {
    const { evaluation, execution } = sampleEvaluation(trial)
    fold.add(evaluation, execution)
  }
  return fold.finish()
}

function sectionsOf(trials: readonly SampleTrial[], more: Partial<typeof facts> = {}) {
  const sections = evaluationSections(summaryOf(trials), { ...facts, ...more })
  const titled = (title: string): ReportSection | undefined => sections.find((one) => one.title === title)
  return { titles: sections.map(({ title }) => title), titled }
}

const right: SampleTrial = { scenario: 'a', calls: ['demo:greet'] }
const taken: SampleTrial = { scenario: 'b', calls: ['demo:farewell'] }
const quiet: SampleTrial = { scenario: 'c' }

test('a component that missed is named by its file, with what fired instead and in which scenarios', () => {
  const { titled } = sectionsOf([right, taken])
  const [row] = titled('What to change')?.rows ?? []
  expect(row).toEqual([
    'skills/greet/SKILL.md:3',
    'greet should have fired 2 times and missed 1. skill:farewell fired instead: say in each description what the other is not for. See b.',
  ])
})

test('a built-in skill that fired instead is named as such', () => {
  const { titled } = sectionsOf([{ scenario: 'b', calls: ['dataviz'] }])
  expect(titled('What to change')?.rows[0]?.[1]).toBe(
    'greet should have fired 1 time and missed 1. the built-in skill:dataviz fired instead: say in its description what it does that Claude Code itself does not. See b.',
  )
  expect(titled('What fired instead')?.rows[0]?.[2]).toContain('(built-in)/skill:dataviz')
})

test('where nothing fired, the description should say more; where it is cut, it should be shorter', () => {
  expect(sectionsOf([quiet]).titled('What to change')?.rows[0]?.[1]).toContain('which requests it is for')
  const listing = {
    ...facts.listing,
    entries: [{ component: 'skill:greet', characters: 900, shown: 'dropped' as const }],
  }
  const { titled } = sectionsOf([quiet], { listing })
  expect(titled('What to change')?.rows[0]?.[1]).toContain('is dropped in the listing')
  // The model has chosen it once, so it knew the description.
  const chosen = sectionsOf([quiet, { ...right, scenario: 'chosen' }], { listing })
  expect(chosen.titled('What to change')?.rows[0]?.[1]).not.toContain('listing')
})

test('a component that fired wrongly should say when not to use it', () => {
  const { titled } = sectionsOf([{ ...right, more: { expected_trigger: false, scenario_type: 'negative' } }])
  expect(titled('What to change')?.rows[0]?.[1]).toBe(
    'greet fired 1 time when it should not. Say in its description when not to use it.',
  )
})

test('when everything fired correctly there is nothing to change', () => {
  expect(sectionsOf([right]).titles).toEqual(['Components', 'Cost'])
})

test('the most useful section comes first and cost last', () => {
  const { titles } = sectionsOf([right, taken])
  expect(titles).toEqual(['What to change', 'Components', 'What fired instead', 'Cost'])
})

test('quality is a column only when there is a judge', () => {
  const columns = sectionsOf([right])
    .titled('Components')
    ?.columns.map(({ title }) => title)
  expect(columns).toEqual(['component', 'recall', 'precision', 'missed', 'wrongly'])
})

test('trials that did not run are continued with all that was paid, and a higher budget where that was the reason', () => {
  const steps = (notRunWhy: readonly string[]) =>
    evaluationView(
      { counts: { pass: 1, fail: 0, infra: 0, invalid: 0 }, notRun: 2 },
      { runId: 'run_1', summary: summaryOf([right]), analysis: { ...facts }, scenarios: [], notRunWhy },
    ).nextSteps
  expect(steps(['the budget has nothing left'])).toEqual([
    'Continue with: gantry plugin resume run_1 --max-cost-usd USD',
  ])
  expect(steps([])).toEqual(['Continue with: gantry plugin resume run_1'])
})

test('when nothing was paid the report says so, and list prices are not counted as cost', () => {
  const paid = sectionsOf([right]).titled('Cost')
  expect(paid?.lead).toContain('$0.0100 in total')
  const free = sectionsOf([{ ...right, execution: { cost_usd: 0 } }]).titled('Cost')
  expect(free).toMatchObject({
    lead: 'Nothing was paid. At list price the same tokens would cost $0.0100.',
    rows: [],
  })
})

test('arms are compared pair by pair, and a crowd without effect is one sentence', () => {
  const { titles, titled } = sectionsOf([
    right,
    { ...right, arm: 'crowd' },
    { scenario: 'a', arm: 'without' },
  ])
  expect(titles).toEqual(expect.arrayContaining(['With the plugin and without', 'In the crowd and alone']))
  expect(titled('What the crowd costs')).toMatchObject({
    lead: 'No component lost a scenario to the crowd: what fired alone also fired in the crowd.',
    rows: [],
  })
  const lost = sectionsOf([right, { ...taken, scenario: 'a', arm: 'crowd' }]).titled('What the crowd costs')
  expect(lost?.rows).toEqual([['skill:greet', '100% (2-100%)', '0% (0-98%)', 'skill:farewell (1)', 'a']])
})

test('a cost of zero in both arms has no row', () => {
  const free = (arm: 'alone' | 'crowd'): SampleTrial => ({ ...right, arm, execution: { cost_usd: 0 } })
  const rows = sectionsOf([free('alone'), free('crowd')]).titled('In the crowd and alone')?.rows
  expect(rows?.map(([measure]) => measure)).toEqual(['right', 'turns', 'time'])
})
