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
        scripts: [2, 3, 4].map((attempt) => ({ when: { attempt }, turns: [] })),
      },
    },
  })
}

test('--against ends with the comparison, which decides the exit code', async () => {
  using project = everySecond()
  const first = await gantryTest(project, ['--repeat', '4'])
  expect(first.code).toBe(1)
  const again = await gantryTest(project, ['--repeat', '4', '--no-cache', '--against', first.run_id])
  expect(again.comparisons?.[0]).toMatchObject({
    verdict: 'inconclusive',
    pairs: 8,
    difference: { value: 0 },
    left_out: [],
  })
  // Both sides failed as many of their trials: nothing got worse.
  expect(again.code).toBe(0)
  const single = await gantryTest(project, [
    '--repeat',
    '1',
    '--no-cache',
    '--against',
    first.run_id,
    '--fail-on',
    'inconclusive',
  ])
  expect(single.comparisons?.[0]).toMatchObject({ verdict: 'better', difference: { value: 0.75 } })
  const back = await gantryTest(project, ['--repeat', '4', '--against', single.run_id])
  expect(back.comparisons?.[0]).toMatchObject({
    verdict: 'worse',
    doubts: [expect.stringContaining('came from the cache')],
  })
  expect(back.code).toBe(1)
})

test('trials from the cache of the run they are compared with are left out, and no comparison is made of nothing', async () => {
  using project = everySecond()
  const first = await gantryTest(project)
  const same = await gantry(project, ['test', '--against', first.run_id])
  expect(same.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /Nothing can be compared.*both sides have the same trials.*--no-cache/,
  )
  expect(same.code).toBe(2)
  const more = await gantryTest(project, ['--repeat', '3', '--against', first.run_id])
  expect(more.comparisons?.[0]).toMatchObject({ pairs: 8, difference: { value: -1 } })
  expect(more.comparisons?.[0]?.left_out.map(({ reason }) => reason)).toEqual(
    Array(8).fill('1 trial of both sides; its other trials are compared'),
  )
})

test('a comparison with a run that its budget stopped warns, and so does its own', async () => {
  using project = smallProject({
    turns: [{ usage: { input_tokens: 1, cost_usd: 0.4 } }, writes('other.txt')],
  })
  const flags = ['--repeat', '4', '-j', '1', '--no-cache']
  const cut = await gantryTest(project, [...flags, '--max-cost-usd', '0.8'])
  expect(cut.summary).toMatchObject({ verdict: 'fail', notRun: 2 })
  const { comparisons } = await gantryTest(project, [
    ...[...flags, '--max-cost-usd', '1.2', '--against', cut.run_id],
  ])
  expect(comparisons?.[0]?.doubts).toEqual([
    '1 planned trial of this run did not run',
    `${cut.run_id} has results of only 2 of 4 planned trials`,
  ])
})

test('a case that changed in between is left out', async () => {
  using project = everySecond()
  const first = await gantryTest(project)
  project.write({ 'scenarios/a.yaml': smallScenario({ name: 'a', task: { prompt: 'Another prompt.' } }) })
  const { comparisons } = await gantryTest(project, ['--no-cache', '--against', first.run_id])
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
  [['--margin', '3'], '--margin belongs to a comparison'],
  [['--fail-on', 'worse'], '--fail-on belongs to a comparison'],
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
  const failed = await gantry(project, ['test', ...flags, '--fail-on', 'regression'])
  expect(failed.code).toBe(1)
  expect(failed.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /FAIL 8 of 16 counted trials failed.*8 regressions: with --fail-on regression the run fails\./,
  )
  expect(failed.stdout).not.toContain('PASS ')
})

test('a baseline replaces only another baseline', async () => {
  using project = everySecond()
  await gantryTest(project, ['--filter', 'a'])
  project.write({ 'mine.json': '{"mine":true}\n', 'folder/x': '' })
  const blessTo = (path: string) => gantry(project, ['runs', 'bless', 'latest', '--to', path])
  const refused = [await blessTo('mine.json'), await blessTo('folder')]
  expect(refused.map(({ code }) => code)).toEqual([2, 2])
  expect(refused[0]?.stderr).toContain('mine.json is not a baseline file')
  expect(refused[1]?.stderr).toContain('folder is a directory')
  expect(project.read('mine.json')).toBe('{"mine":true}\n')
  expect([(await blessTo('a.json')).code, (await blessTo('a.json')).code]).toEqual([0, 0])
})

test.each(['--against', '--baseline'])(
  '%s of another suite or of nothing is refused, also in a plan',
  async (flag) => {
    using project = everySecond()
    await gantryTest(project, ['--filter', 'a'])
    await gantry(project, ['runs', 'bless', 'latest', '--to', 'a.json'])
    for (const [other, message] of [
      ['a.json', /nothing that can be compared|has no case, agent and model of this run/],
      ['nosuch', /there is no run "nosuch"/],
    ] as const)
      for (const plan of [[], ['--plan']]) {
        const { code, stderr } = await gantry(project, ['test', '--filter', 'b', flag, other, ...plan])
        expect(stderr).toMatch(message)
        expect(stderr).not.toContain('--map')
        expect(code).toBe(2)
      }
    expect((await gantry(project, ['runs', 'list', '--json'])).stdout).toContain('"total":1')
  },
)
