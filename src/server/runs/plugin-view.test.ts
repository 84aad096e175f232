import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sampleEvaluation, samplePlugin, sampleScenario } from '../../../test/support/plugin-samples.ts'
import { sampleAnalysis } from '../../../test/support/sample-analysis.ts'
import { sampleRecord } from '../../../test/support/sample-record.ts'
import { labApp, openServerLab } from '../../../test/support/server-lab.ts'
import { createEvaluationFold } from '../../plugin/evaluate/metrics/create-evaluation-fold.ts'
import { createRun } from '../../store/create-run.ts'

/** An evaluation in which `greet` fired once, and `farewell` fired in its place once. */
function evaluatedLab() {
  const lab = openServerLab()
  const live = createRun(lab.store, { kind: 'plugin', title: 'demo', argv: [], cwd: lab.root })
  const { dir, id: run } = live
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(dir, name), `${JSON.stringify(value)}\n`)
  const fold = createEvaluationFold({ plugin: 'demo', prices: {} })
  const taken = sampleEvaluation({ scenario: 'b', calls: ['demo:farewell'] })
  for (const one of [sampleEvaluation({ scenario: 'a', calls: ['demo:greet'] }), taken])
    fold.add(one.evaluation, one.execution)
  const analysis = sampleAnalysis(samplePlugin('demo', { skill: ['greet', 'farewell'] }).components)
  const { findings, listing, plugin_name, plugin_path } = analysis
  const { verdict, gates, reason } = taken.evaluation
  const record = sampleRecord('b', { case: 'b', verdict, gates, reason })
  write('analysis.json', analysis)
  write('scenarios.json', { scenarios: [sampleScenario({ id: 'a' }), sampleScenario({ id: 'b' })] })
  live.finishTrial(record)
  const end = (): void => {
    const head = { plugin_name, plugin_path, agent: 'mine', model: 'default', findings, listing, not_run: [] }
    write('evaluation.json', { ...head, summary: fold.finish(), results: [] })
  }
  const { ask } = labApp(lab)
  const read = async (): Promise<Response> => ask(`/v1/runs/${run}/plugin`)
  return { read, end, run }
}

test('an evaluation shows its components, what fired instead, and its failures with advice', async () => {
  const { read, end, run } = evaluatedLab()
  end()
  const found = JSON.parse(await (await read()).text())
  expect(found.summary.by_component['skill:greet']).toMatchObject({ true_positives: 1, false_negatives: 1 })
  expect(found.summary.confusion[0].fired.map(({ component }: { component: string }) => component)).toEqual([
    'skill:farewell',
    'skill:greet',
  ])
  expect(found.changes[0].because).toContain('skill:farewell fired instead')
  expect(found.failures).toEqual([
    {
      trial: 'b',
      scenario: 'b',
      prompt: sampleScenario().user_prompt,
      reason: expect.stringContaining('farewell'),
      advice: [expect.stringContaining('did not make it the choice')],
    },
  ])
  expect(found.next_steps[0]).toContain(`--failed-run ${run}`)
})

test('an evaluation that has not ended says so', async () => {
  const response = await evaluatedLab().read()
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('no evaluation of a plugin yet')
})
