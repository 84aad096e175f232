import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { InteractionMetrics } from '../../../src/core/trial.ts'
import { gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { trialEvents, trialJson } from '../support/trial-files.ts'

const tool =
  '#!/bin/sh\n[ "$1" = bad ] && exit 2\n[ "$1" = once ] && { [ -e .once ] || { touch .once; exit 1; }; }\nexit 0\n'

async function metricsOf(...commands: string[]): Promise<InteractionMetrics> {
  using project = smallProject({
    scenario: { target: { binary: './bin/tool' } },
    turns: commands.map((run) => ({ run })),
    files: { 'bin/tool': tool },
  })
  const trial = onlyTrial(await gantryTest(project))
  expect(trialJson(trial, 'metrics.json').interaction).toEqual(trial.metrics)
  return trial.metrics
}

describe('interaction metrics', () => {
  test('count uses, distinct uses, errors, retries and calls for help', async () => {
    expect(
      await metricsOf('tool --help', 'tool add a', 'tool add a', 'tool bad', 'tool add b', 'ls'),
    ).toMatchObject({
      total_commands: 5,
      unique_commands: 4,
      error_count: 1,
      error_rate: 0.2,
      retry_count: 1,
      retry_rate: 0.2,
      help_invocations: 1,
      iteration_ratio: 0.8,
      completed: true,
      source: 'shim',
    })
  })

  test('two uses with different arguments are not a retry', async () => {
    expect(await metricsOf('tool add a', 'tool add b')).toMatchObject({ retry_count: 0, unique_commands: 2 })
  })

  test('a command that fails and then succeeds was no success at the first try', async () => {
    expect(await metricsOf('tool once', 'tool once')).toMatchObject({
      first_try_success_rate: 0,
      error_count: 1,
    })
  })

  test('three identical failures are not a success', async () => {
    expect(await metricsOf('tool bad', 'tool bad', 'tool bad')).toMatchObject({
      first_try_success_rate: 0,
      error_count: 3,
      iteration_ratio: 1 / 3,
    })
  })

  test('an error belongs to the command that made it, not to its neighbours', async () => {
    const metrics = await metricsOf('tool add error failed', 'tool bad', 'tool add "exit code 1"')
    expect(metrics).toMatchObject({ total_commands: 3, error_count: 1 })
  })

  test('are exact for an agent that prints only text, inside pipes, loops and lists too', async () => {
    using project = smallProject({
      scenario: {
        target: { binary: './bin/tool', health_check: 'tool health' },
        setup: { commands: ['tool setup'] },
        scripts: { post: [{ command: 'tool post' }] },
        evaluation: {
          gates: [{ type: 'command_succeeds', command: 'tool gate' }, { type: 'no_transcript_errors' }],
        },
      },
      config: { agents: { plain: { driver: 'command', command: ['sh', './agent.sh'] } } },
      files: {
        'bin/tool': tool,
        'agent.sh':
          'tool bad | cat\ntool bad; true\nfor n in 1 2; do tool add $n; done\necho "$ tool said"\n',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.metrics).toMatchObject({
      total_commands: 4,
      unique_commands: 3,
      error_count: 2,
      retry_count: 1,
      source: 'shim',
      subcommands: { add: { total: 2 }, bad: { errors: 2 } },
    })
    expect(trial).toMatchObject({ verdict: 'fail', gates: [{ passed: true }, { passed: false }] })
    expect(trial.gates[1]).toMatchObject({
      message: '2 of 4 invocations failed: tool bad (exit code 2); tool bad (exit code 2)',
      detail: { source: 'shim' },
    })
    expect(trialEvents(trial).filter(({ event }) => event === 'target_call')).toMatchObject([
      { args: ['bad'], exit_code: 2 },
      { args: ['bad'], exit_code: 2 },
      { args: ['add', '1'], exit_code: 0 },
      { args: ['add', '2'], exit_code: 0 },
    ])
    for (const left of ['bin', 'calls']) expect(existsSync(join(trial.dir, left))).toBe(false)
  })

  test('are guessed from the transcript when the agent shows no events and no call was recorded, and say so', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool', command_pattern: '^\\$ tool\\s+(\\S+)' } },
      config: { agents: { plain: { driver: 'command', command: ['sh', './agent.sh'] } } },
      files: {
        'bin/tool': tool,
        'agent.sh': 'echo "$ tool add milk"\necho "$ tool list"\ntouch done.txt\n',
      },
    })
    const { metrics } = onlyTrial(await gantryTest(project))
    expect(metrics).toMatchObject({ total_commands: 2, source: 'transcript' })
    expect(metrics.subcommands).toMatchObject({ add: { total: 1 }, list: { total: 1 } })
  })

  test('are exact in a login shell, whose profile replaces PATH, and leave no file in HOME', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      config: {
        agents: { login: { driver: 'command', command: ['bash', '-lc', 'tool add x; touch done.txt'] } },
      },
      files: { 'bin/tool': tool },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.metrics).toMatchObject({ total_commands: 1, error_count: 0, source: 'shim' })
    expect(existsSync(join(trial.dir, 'home'))).toBe(false)
  })

  test('say that the tool was never called when no call was recorded', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      config: { agents: { mute: { driver: 'command', command: ['touch', 'done.txt'] } } },
      files: { 'bin/tool': tool },
    })
    expect(onlyTrial(await gantryTest(project)).metrics).toMatchObject({ total_commands: 0, source: 'shim' })
  })

  test('say `none` when nothing could be seen', async () => {
    using project = smallProject({
      config: { agents: { mute: { driver: 'command', command: ['touch', 'done.txt'] } } },
    })
    expect(onlyTrial(await gantryTest(project)).metrics).toMatchObject({ total_commands: 0, source: 'none' })
  })
})

describe('`completed`', () => {
  test.each<[string, Record<string, unknown>[], Record<string, unknown>]>([
    ['a non-zero exit', [{ run: 'touch done.txt' }, { exit: 3 }], { ending: 'exited', agentExitCode: 3 }],
    ['a crash', [{ run: 'touch done.txt' }, { crash: { signal: 'SIGSEGV' } }], { ending: 'crashed' }],
    ['a timeout', [{ run: 'touch done.txt' }, { hang: true }], { ending: 'timed_out' }],
  ])('is false after %s, and work that is done still passes', async (_what, turns, expected) => {
    using project = smallProject({ turns })
    const trial = onlyTrial(await gantryTest(project, ['--timeout', '700ms']))
    expect(trial).toMatchObject({ verdict: 'pass', metrics: { completed: false }, ...expected })
  })
})
