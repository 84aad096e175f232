import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { agentScript, smallProject, smallScenario, writes } from '../support/project.ts'

/** Fails as a machine does so many times, then works. The count lives outside the workspace. */
const brokenAtFirst = (times: number, line: string) => ({
  config: {
    agents: { shaky: { driver: 'command', command: ['sh', './agent.sh'], output: 'events' } },
  },
  files: {
    'agent.sh': `n=$(cat "$(dirname "$0")/tries" 2>/dev/null || echo 0)
echo $((n + 1)) > "$(dirname "$0")/tries"
if [ "$n" -lt ${times} ]; then echo "try $n" > left-behind; echo '${line}'; exit 1; fi
touch done.txt
`,
  },
})
const authError = '{"event":"error","reason":"auth","message":"no key"}'
const unavailable = '{"event":"error","reason":"unavailable","message":"overloaded"}'
const rateLimit = '{"event":"error","reason":"rate_limit","message":"slow down"}'

describe('a trial that did not really happen', () => {
  test('is tried again, in a fresh workspace, and what earlier tries left is kept', async () => {
    using project = smallProject(brokenAtFirst(2, unavailable))
    const run = await gantryTest(project)
    const trial = onlyTrial(run)
    expect(trial).toMatchObject({ verdict: 'pass', infraRetries: 2 })
    expect(run.summary).toMatchObject({ infraRetries: 2, counts: { pass: 1, infra: 0 } })
    expect(existsSync(`${trial.dir}/fixture/left-behind`)).toBe(false)
    expect(readFileSync(`${trial.dir}.infra-1/fixture/left-behind`, 'utf8')).toBe('try 0\n')
    expect(readFileSync(`${trial.dir}.infra-2/fixture/left-behind`, 'utf8')).toBe('try 1\n')
  })

  test('is tried no more than --infra-retries, and then counts as infra and not as a failure', async () => {
    using project = smallProject(brokenAtFirst(9, unavailable))
    const run = await gantryTest(project, ['--infra-retries', '1'])
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'unavailable', infraRetries: 1 })
    expect(onlyTrial(run).reason).toBe('the agent could not work (unavailable): overloaded')
    expect(project.read('tries')).toBe('2\n')
    expect(run.summary.passRate).toMatchObject({ value: null, n: 0 })
    expect(run.code).toBe(3)
  })

  test('is not tried again when the key is refused, because it would be refused again', async () => {
    using project = smallProject(brokenAtFirst(9, authError))
    const run = await gantryTest(project, ['--infra-retries', '3'])
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'auth', infraRetries: 0 })
    expect(onlyTrial(run).reason).toContain('the agent could not work (auth): no key')
    expect(project.read('tries')).toBe('1\n')
  })

  test.each<[string, Record<string, unknown>]>([
    ['an agent whose script has no part for the case', { driver: 'scripted', script: 'agents/picky.yaml' }],
    [
      'a command its shell cannot find',
      { driver: 'command', command: ['sh', '-c', 'exec no-such-thing-at-all'] },
    ],
  ])('%s is infra', async (_what, agent) => {
    using project = smallProject({
      config: { agents: { a: agent } },
      files: { 'agents/picky.yaml': { name: 'p', scripts: [{ when: { case: 'other' }, turns: [] }] } },
    })
    expect(onlyTrial(await gantryTest(project, ['--infra-retries', '0'])).verdict).toBe('infra')
  })

  test('an agent that exits with an error of its own is judged by what it did', async () => {
    using project = smallProject({ turns: [{ crash: { exit: 9 } }] })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({
      verdict: 'fail',
      agentExitCode: 9,
      infraRetries: 0,
    })
  })
})

describe('a rate limit', () => {
  test('pauses and goes on; it is never scored', async () => {
    using project = smallProject(brokenAtFirst(1, rateLimit))
    const { code, stdout } = await gantry(project, ['test', '--infra-retries', '0'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/slow down; trying again in 1 s/)
  })

  test('that lasts longer than --max-pause ends as infra', async () => {
    using project = smallProject(brokenAtFirst(99, rateLimit))
    const run = await gantryTest(project, ['--max-pause', '100ms'])
    expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'rate_limit' })
    expect(project.read('tries')).toBe('1\n')
  })
})

describe('infra and invalid trials', () => {
  const mixed = (maxInfraRate: string) => {
    const project = smallProject({
      files: {
        'scenarios/broken.yaml': smallScenario({ name: 'broken', setup: { commands: ['false'] } }),
        'agents/worker.yaml': {
          ...agentScript([writes('done.txt')]),
          scripts: [
            { when: { attempt: 2 }, turns: [{ infra: { reason: 'unavailable' } }] },
            { when: { attempt: 3 }, turns: [] },
          ],
        },
      },
    })
    const argv = ['--repeat', '4', '--infra-retries', '0', '--max-infra-rate', maxInfraRate]
    return { project, run: () => gantryTest(project, argv) }
  }

  test('are counted, and left out of every rate', async () => {
    const { project, run } = mixed('1')
    using _project = project
    const { summary } = await run()
    expect(summary.counts).toEqual({ pass: 2, fail: 1, infra: 1, invalid: 4 })
    const [broken, sound] = summary.cases
    expect(sound).toMatchObject({ case: 'case', passRate: { n: 3 }, counts: { infra: 1 } })
    expect(sound?.passRate.value).toBeCloseTo(2 / 3)
    expect(broken).toMatchObject({ case: 'broken', passRate: { value: null, n: 0 } })
    expect(summary.infraRate).toBeCloseTo(1 / 8)
  })

  test('too many infra ones make the whole run infra, whatever else failed', async () => {
    const { project, run } = mixed('0.1')
    using _project = project
    const { summary, code } = await run()
    expect(summary.verdict).toBe('infra')
    expect(code).toBe(3)
  })
})
