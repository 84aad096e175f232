import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, startGantry } from '../support/gantry.ts'
import { agentScript, type SmallProject, smallProject, smallScenario, writes } from '../support/project.ts'

async function codeOf(
  setup: SmallProject,
  argv: string[] = [],
  env: Record<string, string> = {},
): Promise<number | null> {
  using project = smallProject(setup)
  return (await gantry(project, ['test', '--infra-retries', '0', ...argv], { env })).code
}

const failsAt = (...attempts: number[]): SmallProject => ({
  files: {
    'agents/worker.yaml': {
      ...agentScript([writes('done.txt')]),
      scripts: attempts.map((attempt) => ({ when: { attempt }, turns: [] })),
    },
  },
})

describe('the exit code', () => {
  test.each<[number, string, SmallProject, string[]?]>([
    [0, 'everything passed', {}],
    [1, 'a gate failed', { turns: [] }],
    [2, 'a scenario is malformed', { scenario: { tier: 'high' } }],
    [2, 'a case is invalid', { scenario: { setup: { commands: ['false'] } } }],
    [2, 'a flag is unknown', {}, ['--frobnicate']],
    [2, 'a value of a flag is wrong', {}, ['--repeat', '0']],
    [2, 'an agent is unknown', {}, ['--agent', 'nobody']],
    [3, 'the machinery broke', { turns: [{ infra: { reason: 'unavailable' } }] }],
    [
      4,
      'a partial run is not accepted',
      { turns: [{ wait: '150ms' }, writes('done.txt')] },
      ['--repeat', '4', '-j', '1', '--max-time', '100ms', '--strict'],
    ],
  ])('is %d when %s', async (code, _when, setup, argv) => {
    expect(await codeOf(setup, argv)).toBe(code)
  })

  test('is the same from the real program, and errors go to stderr', async () => {
    using project = smallProject({ turns: [] })
    expect(await startGantry(project, ['test']).ended).toMatchObject({ code: 1, stderr: '' })
    const usage = await startGantry(project, ['test', '--agent', 'nobody']).ended
    expect(usage).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("no agent 'nobody'") })
  })

  test('is 0 for a failure that a threshold allows, and 1 below it', async () => {
    expect(await codeOf(failsAt(2), ['--repeat', '4', '--threshold', '0.75'])).toBe(0)
    expect(await codeOf(failsAt(2), ['--repeat', '4', '--threshold', '0.8'])).toBe(1)
  })

  test('is 4 with --strict when so few trials cannot prove the threshold', async () => {
    expect(await codeOf(failsAt(), ['--repeat', '2', '--threshold', '0.9', '--strict'])).toBe(4)
    expect(await codeOf(failsAt(), ['--repeat', '2', '--threshold', '0.1', '--strict'])).toBe(0)
  })

  test('is that of a failure, also when another case is invalid', async () => {
    expect(
      await codeOf({
        turns: [],
        files: { 'scenarios/b.yaml': smallScenario({ name: 'b', setup: { commands: ['false'] } }) },
      }),
    ).toBe(1)
  })

  test('is 2 while LLM_TOOL_TEST_ENABLED forbids runs, and 0 when it is 1 or unset', async () => {
    expect(await codeOf({}, [], { LLM_TOOL_TEST_ENABLED: '0' })).toBe(2)
    expect(await codeOf({}, [], { LLM_TOOL_TEST_ENABLED: '1' })).toBe(0)
  })

  test('is 130 after an interruption, and what is finished is kept', async () => {
    using project = smallProject({ turns: [{ wait: '300ms' }, writes('done.txt')] })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 450)
    const { code } = await gantry(project, ['test', '--repeat', '20', '-j', '1'], { signal: stop.signal })
    expect(code).toBe(130)
  })
})

test('a bug is never shown to a user of flags: --help and --version work everywhere', async () => {
  using project = smallProject()
  for (const argv of [
    ['--help'],
    ['test', '--help'],
    ['scenario', '--help'],
    ['help', 'test'],
    ['--version'],
  ]) {
    const { code, stdout, stderr } = await gantry(project, argv)
    expect(code, argv.join(' ')).toBe(0)
    expect(stdout).not.toBe('')
    expect(stderr).toBe('')
  }
  expect((await gantry(project, ['help', 'runs', 'bless'])).stdout).toContain('Usage: gantry runs bless')
  expect((await gantryTest(project)).stderr).toBe('')
})
