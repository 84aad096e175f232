import { join } from 'node:path'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { EvaluationDocument } from '../../../src/plugin/pipeline/evaluation-files.ts'
import { type Behaviour, behaviours, verdictOf } from '../../e2e/plugin/behaviours.ts'
import { type Evaluated, evaluated, firedIn, kitchenProject, trialOf } from '../../e2e/plugin/lab.ts'
import { readTap } from '../../e2e/plugin/read-tap.ts'
import { gantry } from '../../e2e/support/gantry.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const overlapping = join(import.meta.dirname, '../../../examples/plugin/overlapping')

/** A skill of another plugin, which is there only in the crowd. */
const stranger: Behaviour = {
  id: 'how-a-stranger',
  component_type: 'skill',
  component_ref: 'brew-tea',
  expected_trigger: true,
  turns: [
    { calls: [{ tool: { name: 'Skill', input: { skill: 'overlapping:condense-text' } } }] },
    { text: 'Done.' },
  ],
  expect: { triggered: false, severity: 'none', fired: [] },
}
const tried = [
  ...behaviours.filter(({ id }) =>
    [
      'how-skill-rightly',
      'how-skill-wrongly',
      'how-skill-inside',
      'how-agent-inside',
      'how-skill-unasked',
    ].includes(id),
  ),
  stranger,
]
const failing = ['how-a-stranger', 'how-skill-unasked', 'how-skill-wrongly']
const argv = ['run', '--filter', 'how-', '-j', '2']

whenInstalled(['claude-code'], 'gantry plugin', () => {
  let project: TestProject
  let run: Evaluated
  const report = async (format: string): Promise<string> =>
    (await gantry(project, ['plugin', 'report', run.runId, '--output', format])).stdout

  beforeAll(async () => {
    project = kitchenProject({ id: 'claude-code', behaviours: tried })
    run = await evaluated(project, argv)
  }, 300_000)
  afterAll(() => project?.[Symbol.dispose]())

  test('prints the content of the run on standard output', () => {
    expect(JSON.parse(run.stdout)).toEqual(run.document)
    expect(run.code).toBe(1)
  })

  test('a third-party JUnit parser sees failures as failures', async () => {
    const text = await report('junit-xml')
    expect(XMLValidator.validate(text)).toBe(true)
    const isArray = (name: string): boolean => ['testcase', 'testsuite'].includes(name)
    const parser = new XMLParser({ ignoreAttributes: false, isArray })
    const { testsuites } = parser.parse(text) as { readonly testsuites: Suites }
    expect(testsuites).toMatchObject({ '@_name': 'gantry-plugin', '@_tests': '6', '@_failures': '3' })
    const cases = testsuites.testsuite.flatMap(({ testcase }) => testcase)
    expect(cases.map((one) => one['@_classname']).toSorted()).toEqual(tried.map(({ id }) => id).toSorted())
    for (const { failure, '@_classname': name } of cases)
      expect(failure !== undefined, name).toBe(failing.includes(name))
  })

  test('a third-party TAP parser sees failures as not ok', async () => {
    const { version, points } = readTap(await report('tap'))
    expect(version).toBe(14)
    expect(points.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
    for (const { ok, description } of points)
      expect(ok, description).toBe(!failing.some((name) => description.startsWith(`${name} `)))
  })

  test('YAML and JSON are the same document', async () => {
    const document = JSON.parse(await report('json')) as EvaluationDocument
    expect(parse(await report('yaml'))).toEqual(document)
    expect(document).toEqual(run.document)
  })

  test('only failed scenarios run again, unchanged', async () => {
    const again = await evaluated(project, ['run', '--fast', '--failed-run', run.runId])
    expect(again.runId).not.toBe(run.runId)
    expect(again.trials.map(({ scenario_id }) => scenario_id).toSorted()).toEqual(failing)
    expect(again.document.summary.counts).toMatchObject({ pass: 0, fail: 3 })
  }, 120_000)

  test('every scenario runs as often as requested', async () => {
    const { trials, document } = await evaluated(project, ['run', '--filter', 'how-skill-', '--reps', '2'])
    const ids = tried.filter(({ id }) => id.startsWith('how-skill-')).map(({ id }) => id)
    expect(trials.map(({ trial }) => `${trial.scenario_id} ${trial.rep}`).toSorted()).toEqual(
      ids.flatMap((id) => [`${id} 1`, `${id} 2`]).toSorted(),
    )
    expect(document.summary.repetition_stats).toMatchObject({
      reps_per_scenario: 2,
      consistency_rate: 1,
      flaky_scenarios: [],
    })
  }, 120_000)

  test('without the plugin, alone and in a crowd: a plugin that is not loaded does not fire', async () => {
    project.write({
      'crowd.yaml': {
        plugin: { path: 'plugin' },
        scenarios: ['scenarios.yaml'],
        execution: { agent: 'real', additional_plugins: [overlapping], arms: ['without', 'alone', 'crowd'] },
        conflict_detection: { cross_plugin: true },
      },
    })
    const { trials } = await evaluated(project, [...argv, '--config', 'crowd.yaml'])
    const of = (id: string, arm: string) =>
      trialOf({ trials: trials.filter(({ trial }) => trial.arm === arm) }, id)
    expect(firedIn(of('how-a-stranger', 'alone'))).toEqual([])
    expect(of('how-a-stranger', 'crowd')).toMatchObject({
      triggered: false,
      verdict: 'fail',
      detections: [{ name: 'overlapping:condense-text', plugin: 'overlapping' }],
      conflict: { conflict_severity: 'high' },
    })
    for (const id of tried.map((behaviour) => behaviour.id))
      expect(of(id, 'without'), id).toMatchObject({ triggered: false })
    for (const arm of ['alone', 'crowd']) {
      expect(of('how-skill-rightly', arm)).toMatchObject({ verdict: 'pass', triggered: true })
      // The agent of the CLI itself is a rival too, of another type or of the same.
      expect(of('how-skill-inside', arm).conflict.conflict_severity).toBe('low')
      expect(of('how-agent-inside', arm).conflict.conflict_severity).toBe('medium')
    }
  }, 300_000)
})

test('the table of ways says what it means', () => {
  expect(
    tried
      .filter((behaviour) => verdictOf(behaviour) === 'fail')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(failing)
})

interface Suites {
  readonly testsuite: readonly {
    readonly testcase: readonly { readonly '@_classname': string; readonly failure?: unknown }[]
  }[]
}
