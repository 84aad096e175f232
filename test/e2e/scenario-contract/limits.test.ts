import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents } from '../support/trial-files.ts'

describe('the time limit of the agent', () => {
  test('run.timeout_secs kills it, and the gates still judge', async () => {
    using project = smallProject({
      scenario: { run: { timeout_secs: 0.3 } },
      turns: [writes('done.txt'), { hang: true }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ ending: 'timed_out', verdict: 'pass', metrics: { completed: false } })
  })

  test('--timeout wins over the scenario, both ways', async () => {
    using short = smallProject({ scenario: { run: { timeout_secs: 600 } }, turns: [{ hang: true }] })
    expect(onlyTrial(await gantryTest(short, ['--timeout', '300ms'])).ending).toBe('timed_out')
    using long = smallProject({
      scenario: { run: { timeout_secs: 0.1 } },
      turns: [{ wait: '400ms' }, writes('done.txt')],
    })
    expect(onlyTrial(await gantryTest(long, ['--timeout', '60s']))).toMatchObject({
      ending: 'exited',
      verdict: 'pass',
    })
  })

  test('ends a command agent with everything it started, also what ignores SIGTERM, and starts it only once', async () => {
    using project = smallProject({
      config: {
        agents: {
          deaf: {
            driver: 'command',
            command: [
              'sh',
              '-c',
              'trap "" TERM; echo x >> started; (sleep 3; touch late) & while :; do sleep 1; done',
            ],
          },
        },
      },
      gates: [
        { type: 'command_output_matches', command: 'cat started', pattern: '^x\n$' },
        { type: 'command_succeeds', command: 'sleep 3; test ! -e late' },
      ],
    })
    const trial = onlyTrial(await gantryTest(project, ['--timeout', '500ms']))
    expect(trial).toMatchObject({ ending: 'timed_out', verdict: 'pass' })
  })

  test('that is not a duration is refused', async () => {
    using project = smallProject()
    expect(await gantry(project, ['test', '--timeout', '5'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--timeout'),
    })
  })
})

describe('run.max_turns', () => {
  test('stops the agent after so many turns', async () => {
    using project = smallProject({
      scenario: { run: { max_turns: 2 } },
      turns: [{ say: 'one' }, { say: 'two' }, writes('done.txt')],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({ ending: 'over_turns', verdict: 'fail' })
    expect(trialEvents(trial, 'message')).toHaveLength(2)
  })

  test('leaves an agent alone that needs no more', async () => {
    using project = smallProject({
      scenario: { run: { max_turns: 2 } },
      turns: [{ say: 'one' }, writes('done.txt')],
    })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({ ending: 'exited', verdict: 'pass' })
  })
})

describe('--max-time', () => {
  test('starts no trial after it; what runs is finished and kept', async () => {
    using project = smallProject({ turns: [{ wait: '300ms' }, writes('done.txt')] })
    const run = await gantryTest(project, ['--repeat', '5', '-j', '1', '--max-time', '200ms'])
    expect(run.summary).toMatchObject({ counts: { pass: 1 }, notRun: 4, verdict: 'partial' })
    expect(run.code).toBe(0)
  })
})
