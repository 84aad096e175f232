import { expect, test } from 'vitest'
import { gantryTest } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, writes } from '../support/project.ts'

/** Eight cases that pass at the first attempt only. */
function everySecond() {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  return smallProject({
    files: {
      ...Object.fromEntries(names.map((name) => [`scenarios/${name}.yaml`, smallScenario({ name })])),
      'agents/worker.yaml': {
        ...agentScript([writes('done.txt')]),
        scripts: [{ when: { attempt: 2 }, turns: [] }],
      },
    },
  })
}

test('--against ends with the comparison, which decides the exit code', async () => {
  using project = everySecond()
  const first = await gantryTest(project, ['--repeat', '2'])
  expect(first.code).toBe(1)
  const again = await gantryTest(project, ['--repeat', '2', '--no-cache', '--against', first.run_id])
  expect(again.comparison).toMatchObject({
    verdict: 'inconclusive',
    pairs: 8,
    difference: { value: 0 },
    left_out: [],
  })
  // Both sides failed half of their trials: nothing got worse.
  expect(again.code).toBe(0)
  const single = await gantryTest(project, [
    '--repeat',
    '1',
    '--against',
    first.run_id,
    '--fail-on',
    'inconclusive',
  ])
  expect(single.comparison).toMatchObject({ verdict: 'better', difference: { value: 0.5 } })
  const back = await gantryTest(project, ['--repeat', '2', '--against', single.run_id])
  expect(back.comparison).toMatchObject({ verdict: 'worse' })
  expect(back.code).toBe(1)
})

test('a case that changed in between is left out', async () => {
  using project = everySecond()
  const first = await gantryTest(project)
  project.write({ 'scenarios/a.yaml': smallScenario({ name: 'a', task: { prompt: 'Another prompt.' } }) })
  const { comparison } = await gantryTest(project, ['--against', first.run_id])
  expect(comparison?.left_out).toMatchObject([
    { case: 'a', reason: expect.stringContaining('changed in between') },
  ])
})
