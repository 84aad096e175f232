import { expect, test } from 'vitest'
import { gantry, gantryTest } from '../support/gantry.ts'
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
  expect(again.comparisons?.[0]).toMatchObject({
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
  expect(single.comparisons?.[0]).toMatchObject({ verdict: 'better', difference: { value: 0.5 } })
  const back = await gantryTest(project, ['--repeat', '2', '--against', single.run_id])
  expect(back.comparisons?.[0]).toMatchObject({ verdict: 'worse' })
  expect(back.code).toBe(1)
})

test('a case that changed in between is left out', async () => {
  using project = everySecond()
  const first = await gantryTest(project)
  project.write({ 'scenarios/a.yaml': smallScenario({ name: 'a', task: { prompt: 'Another prompt.' } }) })
  const { comparisons } = await gantryTest(project, ['--against', first.run_id])
  expect(comparisons?.[0]?.left_out).toMatchObject([
    { case: 'a', reason: expect.stringContaining('changed in between') },
  ])
})

test('nothing runs when no planned trial could be compared', async () => {
  using project = everySecond()
  const first = await gantryTest(project, ['--filter', 'a'])
  const { code, stderr } = await gantry(project, ['test', '--filter', 'b', '--against', first.run_id])
  expect(stderr).toContain('have nothing that can be compared')
  expect(code).toBe(2)
  expect((await gantry(project, ['runs', 'list', '--json'])).stdout).toContain('"total":1')
})

test.each([
  [['--margin', '3'], '--margin and --fail-on belong to a comparison'],
  [['--fail-on', 'worse'], '--margin and --fail-on belong to a comparison'],
  [['--against', 'latest', '--rerun-failed'], 'cannot be compared fairly'],
])('%j is refused instead of ignored', async (flags, message) => {
  using project = everySecond()
  await gantryTest(project)
  const { code, stderr } = await gantry(project, ['test', ...flags])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('--fail-on regression makes the regressions against a baseline count', async () => {
  using project = everySecond()
  const first = await gantryTest(project, ['--threshold', '0.1'])
  const flags = ['--repeat', '2', '--threshold', '0.1', '--baseline', first.run_id]
  expect((await gantryTest(project, flags)).code).toBe(0)
  expect((await gantryTest(project, [...flags, '--fail-on', 'regression'])).code).toBe(1)
})
