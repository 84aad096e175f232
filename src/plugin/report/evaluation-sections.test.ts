import { expect, test } from 'vitest'
import { type SampleTrial, sampleEvaluation, samplePlugin } from '../../../test/support/plugin-samples.ts'
import type { ReportSection } from '../../report/contract.ts'
import type { Analysis } from '../analyze/contract.ts'
import { createEvaluationFold } from '../evaluate/metrics/create-evaluation-fold.ts'
import type { EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import { evaluationSections } from './evaluation-sections.ts'

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

test('a component that missed is named by its file, with who took its place and in which scenarios', () => {
  const { titled } = sectionsOf([right, taken])
  const [row] = titled('What to change')?.rows ?? []
  expect(row).toEqual([
    'skills/greet/SKILL.md:3',
    'greet should have fired 2 times and missed 1. skill:farewell fired instead: say in each description what the other is not for. See b.',
  ])
})

test('where nothing fired the description is to say more, and where it is not shown it is to be shorter', () => {
  expect(sectionsOf([quiet]).titled('What to change')?.rows[0]?.[1]).toContain('which requests it is for')
  const listing = {
    ...facts.listing,
    entries: [{ component: 'skill:greet', characters: 900, shown: 'dropped' as const }],
  }
  const { titled } = sectionsOf([quiet], { listing })
  expect(titled('What to change')?.rows[0]?.[1]).toContain('is dropped in the listing')
})

test('a component that fired when it should not is to say when not to use it', () => {
  const { titled } = sectionsOf([{ ...right, more: { expected_trigger: false, scenario_type: 'negative' } }])
  expect(titled('What to change')?.rows[0]?.[1]).toBe(
    'greet fired 1 time when it should not. Say in its description when not to use it.',
  )
})

test('when everything fired as it should there is nothing to change', () => {
  expect(sectionsOf([right]).titles).toEqual(['Components', 'Cost'])
})

test('the most useful comes first and money last', () => {
  const { titles } = sectionsOf([right, taken])
  expect(titles).toEqual(['What to change', 'Components', 'What fired instead', 'Cost'])
})

test('quality is a column only when there is a judge', () => {
  const columns = sectionsOf([right])
    .titled('Components')
    ?.columns.map(({ title }) => title)
  expect(columns).toEqual(['component', 'recall', 'precision', 'missed', 'wrongly'])
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

test('arms are compared pair by pair, and a crowd that took nothing is one sentence', () => {
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
  expect(lost?.rows).toEqual([['skill:greet', '100% (20-100%)', '0% (0-80%)', 'skill:farewell (1)', 'a']])
})

test('a cost of zero in both arms has no row', () => {
  const free = (arm: 'alone' | 'crowd'): SampleTrial => ({ ...right, arm, execution: { cost_usd: 0 } })
  const rows = sectionsOf([free('alone'), free('crowd')]).titled('In the crowd and alone')?.rows
  expect(rows?.map(([measure]) => measure)).toEqual(['right', 'turns', 'time'])
})
