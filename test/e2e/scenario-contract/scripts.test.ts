import { describe, expect, test } from 'vitest'
import { gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents, trialJson, trialText } from '../support/trial-files.ts'

const passes = { type: 'file_exists', path: 'done.txt' }

describe('post scripts', () => {
  test('run in order after the agent and before the gates', async () => {
    using project = smallProject({
      scenario: { scripts: { post: [{ command: 'cat done.txt > log' }, { command: 'echo two >> log' }] } },
      gates: [{ type: 'command_output_matches', command: 'cat log', pattern: '^done\ntwo\n$' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('pass')
    const kinds = trialEvents(trial).map(({ event }) => event)
    expect(kinds.slice(-4)).toEqual(['complete', 'post_script', 'post_script', 'gate'])
  })

  test('that fail are a warning and an event, and block nothing', async () => {
    using project = smallProject({
      scenario: {
        scripts: { post: [{ command: 'echo out; echo err >&2; exit 7' }, { command: 'touch after' }] },
      },
      gates: [passes, { type: 'file_exists', path: 'after' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('pass')
    expect(trial.warnings).toEqual(['post script failed (exit 7): echo out; echo err >&2; exit 7'])
    expect(trialEvents(trial, 'post_script')[0]).toMatchObject({
      command: 'echo out; echo err >&2; exit 7',
      exit_code: 7,
      timed_out: false,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect(trialText(trial, 'evaluation.md')).toContain('post script failed')
  })

  test('have a limit of their own, after which everything they started is gone', async () => {
    using project = smallProject({
      scenario: { scripts: { post: [{ command: '(sleep 2; touch late) & sleep 60', timeout_secs: 0.3 }] } },
      gates: [{ type: 'command_succeeds', command: 'sleep 2.2; test ! -e late' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialEvents(trial, 'post_script')).toMatchObject([{ exit_code: -1, timed_out: true }])
    expect(trial.warnings.join()).toContain('limit of 0.3 s')
    expect(trial.verdict).toBe('pass')
  })

  test('also run when the agent was killed', async () => {
    using project = smallProject({
      scenario: { run: { timeout_secs: 0.3 }, scripts: { post: [{ command: 'touch done.txt' }] } },
      turns: [{ hang: true }],
    })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({ verdict: 'pass', ending: 'timed_out' })
  })

  test('may print far more than fits into a pipe', async () => {
    using project = smallProject({
      scenario: { scripts: { post: [{ command: 'head -c 3000000 /dev/zero | tr "\\0" x; touch printed' }] } },
      gates: [{ type: 'file_exists', path: 'printed' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('pass')
    expect(trialEvents(trial, 'post_script')).toMatchObject([{ exit_code: 0, timed_out: false }])
  })
})

describe('a script gate', () => {
  const gate = (command: string, rest: Record<string, unknown> = {}) =>
    smallProject({ gates: [{ type: 'script', command, description: 'the notes are right', ...rest }] })
  const judge = async (command: string, rest?: Record<string, unknown>) => {
    using project = gate(command, rest)
    const trial = onlyTrial(await gantryTest(project))
    const [result] = trial.gates
    return { verdict: trial.verdict, ...result }
  }

  test('passes by exit code 0 and says its description', async () => {
    expect(await judge('exit 0')).toMatchObject({ passed: true, message: 'the notes are right' })
  })

  test('fails by any other exit code', async () => {
    const { verdict, message, detail } = await judge('echo why >&2; exit 3')
    expect({ verdict, message }).toEqual({ verdict: 'fail', message: 'the notes are right: exit code 3' })
    expect(JSON.stringify(detail)).toContain('why')
  })

  test('follows `passed` in its JSON against the exit code, both ways', async () => {
    expect(await judge('echo \'{"passed": true}\'; exit 1')).toMatchObject({ verdict: 'pass', passed: true })
    expect(await judge('echo \'{"passed": false}\'; exit 0')).toMatchObject({
      verdict: 'fail',
      passed: false,
    })
  })

  test('keeps message and detail of its JSON', async () => {
    const answer = '{"passed": false, "message": "2 of 3", "detail": {"missing": ["milk"]}}'
    expect(await judge(`echo '${answer}'`)).toMatchObject({
      message: '2 of 3',
      detail: { description: 'the notes are right', missing: ['milk'] },
    })
  })

  test('goes by its exit code when its JSON has no boolean `passed`', async () => {
    expect(await judge('echo \'{"passed": "yes"}\'; exit 1')).toMatchObject({ passed: false })
    expect(await judge("echo '{}'")).toMatchObject({ passed: true })
  })

  test('fails at its time limit', async () => {
    const { passed, message } = await judge('sleep 30', { timeout_secs: 0.2 })
    expect(passed).toBe(false)
    expect(message).toContain('0.2 s')
  })
})

describe('evaluators', () => {
  const evaluated = async (...evaluators: Record<string, unknown>[]) => {
    using project = smallProject({ scenario: { scripts: { evaluators } } })
    const trial = onlyTrial(await gantryTest(project))
    const document = trialText(trial, 'evaluation.md')
    return { trial, document, metrics: trialJson(trial, 'metrics.json') }
  }

  test('give metrics, a score and a summary, which reach metrics.json and evaluation.md', async () => {
    const answer = '{"metrics": {"notes": 3}, "score": 0.5, "summary": "three notes, one stray"}'
    const { trial, document, metrics } = await evaluated({ name: 'notes', command: `echo '${answer}'` })
    expect(trial.evaluators).toEqual([
      { name: 'notes', metrics: { notes: 3 }, score: 0.5, summary: 'three notes, one stray' },
    ])
    expect(metrics.evaluators).toMatchObject({ notes: { metrics: { notes: 3 }, score: 0.5 } })
    expect(document).toContain('## Custom Evaluator Results')
    expect(document).toContain('three notes, one stray')
  })

  test.each([
    ['fails', 'echo oops >&2; exit 9', /exit code 9: oops/, undefined],
    ['runs too long', 'sleep 30', /timed out after 0\.3 s/, undefined],
    ['prints no JSON', 'echo plain words', /not JSON/, 'plain words'],
    ['scores outside 0..1', 'echo \'{"score": 7}\'', /score/, undefined],
  ])('record the error of one that %s, and never decide', async (_what, command, error, summary) => {
    const { trial, document } = await evaluated({ name: 'e', command, timeout_secs: 0.3 })
    expect(trial.verdict).toBe('pass')
    expect(trial.evaluators).toMatchObject([{ name: 'e', error: expect.stringMatching(error) }])
    expect(trial.evaluators[0]?.summary).toBe(summary)
    expect(trial.warnings).toEqual([expect.stringMatching(error)])
    expect(document).toContain('**Error:**')
  })

  test('run after the gates and never turn a failure into a pass', async () => {
    using project = smallProject({
      scenario: { scripts: { evaluators: [{ name: 'e', command: 'echo \'{"score": 1}\'' }] } },
      turns: [writes('other.txt')],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('fail')
    const kinds = trialEvents(trial).map(({ event }) => event)
    expect(kinds.indexOf('evaluator')).toBeGreaterThan(kinds.lastIndexOf('gate'))
  })
})

test('a scenario with post script, script gate and evaluator works from end to end', async () => {
  using project = smallProject({
    scenario: {
      scripts: {
        post: [{ command: './scripts/collect.sh' }],
        evaluators: [{ name: 'size', command: './scripts/size.sh' }],
      },
    },
    gates: [{ type: 'script', command: './scripts/check.sh', description: 'collected' }],
    files: {
      'fixtures/template/scripts/collect.sh': '#!/bin/sh\ncp done.txt collected.txt\n',
      'fixtures/template/scripts/check.sh':
        '#!/bin/sh\ncmp done.txt collected.txt && echo \'{"passed": true}\'\n',
      'fixtures/template/scripts/size.sh':
        '#!/bin/sh\nprintf \'{"metrics": {"bytes": %s}}\' "$(wc -c < done.txt)"\n',
    },
  })
  const trial = onlyTrial(await gantryTest(project))
  expect(trial).toMatchObject({ verdict: 'pass', evaluators: [{ name: 'size', metrics: { bytes: 5 } }] })
})
