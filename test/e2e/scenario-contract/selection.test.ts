import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, type RunDocument } from '../support/gantry.ts'
import { smallProject, smallScenario, type TestProject } from '../support/project.ts'

function project(): TestProject {
  return smallProject({
    files: {
      'scenarios/case.yaml': smallScenario({ name: 'add note', tags: ['write', 'smoke'], tier: 0 }),
      'scenarios/find.yaml': smallScenario({ name: 'find note', tags: ['read', 'smoke'], tier: 1 }),
      'scenarios/deep/merge.yaml': smallScenario({ name: 'merge lists', tags: ['write'], tier: 2 }),
      'scenarios/rubric.yaml': { criteria: [{ id: 'a', weight: 1, description: 'd' }] },
    },
  })
}

const names = ({ trials }: RunDocument): string[] => trials.map((trial) => trial.case).sort()
const all = ['add note', 'find note', 'merge lists']

describe('what is run', () => {
  test.each<[string, string[], string[]]>([
    ['everything gantry.yaml names, and no rubric beside it', [], all],
    ['a file', ['scenarios/find.yaml'], ['find note']],
    ['a directory', ['scenarios/deep'], ['merge lists']],
    ['a glob', ['scenarios/*.yaml'], ['add note', 'find note']],
    ['a scenario by name', ['merge lists'], ['merge lists']],
    ['a scenario by the name of its file', ['find'], ['find note']],
    ['--scenario', ['-s', 'find note', '--scenario', 'case'], ['add note', 'find note']],
    ['--filter with a word', ['--filter', 'NOTE'], ['add note', 'find note']],
    ['--filter with a glob', ['--filter', 'm*'], ['merge lists']],
    ['--filter with an expression', ['--filter', '/^(find|merge)/'], ['find note', 'merge lists']],
    ['--filter twice means either', ['--filter', 'add*', '--filter', 'm*'], ['add note', 'merge lists']],
    ['--tag means any of them', ['--tag', 'read', '--tag', 'write'], all],
    ['--tag with a list', ['--tag', 'read,nothing'], ['find note']],
    ['--all-tags means every one', ['--tag', 'write', '--tag', 'smoke', '--all-tags'], ['add note']],
    ['--tier keeps those up to it', ['--tier', '1'], ['add note', 'find note']],
    ['--tier 0 keeps the smoke tests', ['--tier', '0'], ['add note']],
    ['filters add up', ['--tier', '1', '--tag', 'write'], ['add note']],
  ])('%s', async (_what, argv, expected) => {
    using three = project()
    expect(names(await gantryTest(three, argv))).toEqual(expected)
  })

  test.each<[string, string[], RegExp]>([
    ['a name nobody has', ['merge list'], /no scenario .*'merge list'.*Did you mean 'merge lists'/s],
    ['filters that fit nothing', ['--tag', 'none'], /none of 3 scenarios matches/],
    ['a filter that is no pattern', ['--filter', '/(/'], /--filter \/\(\//],
    ['a directory without scenarios', ['agents'], /no scenario in agents/],
  ])('%s is an error', async (_what, argv, message) => {
    using three = project()
    const { code, stderr } = await gantry(three, ['test', ...argv])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('one broken file among those asked for stops the run: it is never dropped', async () => {
    using three = project()
    three.write({ 'scenarios/broken.yaml': 'name: x\ntask: {}\n' })
    const { code, stderr } = await gantry(three, ['test'])
    expect(code).toBe(2)
    expect(stderr).toContain('broken.yaml')
  })

  test('a scenario lies in a directory below: gantry.yaml is found upward', async () => {
    using three = project()
    const run = await gantryTest(three, [], { cwd: three.path('scenarios/deep') })
    expect(names(run)).toEqual(all)
  })
})

describe('--shard i/n', () => {
  test.each([2, 3, 5])('the %d parts are disjoint and together the whole', async (count) => {
    using three = project()
    const ids: string[] = []
    for (let index = 1; index <= count; index += 1) {
      const { stdout } = await gantry(three, [
        ...['test', '--plan', '--json', '--repeat', '3', '--shard', `${index}/${count}`],
      ])
      const { trials } = JSON.parse(stdout) as { trials: { id: string }[] }
      expect(trials.length).toBeLessThanOrEqual(3 * Math.ceil(3 / count))
      ids.push(...trials.map(({ id }) => id))
    }
    expect(new Set(ids).size).toBe(9)
    expect(ids).toHaveLength(9)
  })

  test('really runs its part only', async () => {
    using three = project()
    const first = await gantryTest(three, ['--shard', '1/2'])
    const second = await gantryTest(three, ['--shard', '2/2'])
    expect([...names(first), ...names(second)].sort()).toEqual(all)
  })

  test.each(['0/2', '3/2', '1', 'a/b', '1/0'])('%s is refused', async (shard) => {
    using three = project()
    const { code, stderr } = await gantry(three, ['test', '--shard', shard])
    expect(code).toBe(2)
    expect(stderr).toContain('--shard')
  })
})
