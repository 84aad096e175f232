import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents, trialText } from '../support/trial-files.ts'

describe('template_folder', () => {
  const places = {
    beside: 'scenarios/template/where',
    fixtures: 'fixtures/template/where',
    root: 'template/where',
  }
  const texts = (...names: (keyof typeof places)[]) =>
    Object.fromEntries(names.map((name) => [places[name], name]))
  const where = [{ run: 'cat where > done.txt' }]

  test.each([
    ['beside', texts('beside', 'fixtures', 'root')],
    ['fixtures', texts('fixtures', 'root')],
  ] as const)('is looked up beside the scenario, then in fixtures: %s', async (expected, files) => {
    using project = smallProject({ turns: where, files })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toBe(expected)
  })

  test('is looked up at the root of the project last', async () => {
    using project = smallProject({
      turns: where,
      config: { fixtures_path: 'elsewhere' },
      files: texts('root'),
    })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toBe('root')
  })

  test('follows fixtures_path of gantry.yaml', async () => {
    using project = smallProject({
      turns: where,
      config: { fixtures_path: 'my/fixtures' },
      files: { 'my/fixtures/template/where': 'mine' },
    })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toBe('mine')
  })

  test('that is nowhere is refused with every place that was looked at', async () => {
    using project = smallProject({ scenario: { template_folder: 'missing' } })
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: template folder 'missing' does not exist/)
    expect(stderr).toContain(project.path('scenarios/missing'))
    expect(stderr).toContain(project.path('fixtures/missing'))
  })
})

describe('the workspace', () => {
  test('is a fresh copy for every trial: nothing of one is seen by the next, and the template stays as it was', async () => {
    using project = smallProject({
      turns: [{ run: 'test ! -e seen && echo dirty >> AGENTS.md && touch seen done.txt' }],
    })
    const { trials } = await gantryTest(project, ['--repeat', '2'])
    expect(trials.map(({ verdict }) => verdict)).toEqual(['pass', 'pass'])
    expect(project.read('fixtures/template/AGENTS.md')).toBe('Write done.txt.\n')
  })

  test('is kept whole after the run, at fixture/ of the trial', async () => {
    using project = smallProject({ turns: [writes('done.txt'), writes('deep/er/note', 'kept')] })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/deep/er/note')).toBe('kept')
    expect(trialText(trial, 'fixture/AGENTS.md')).toBe('Write done.txt.\n')
  })

  test('gets the content of initial-state/ at its root, before the set-up', async () => {
    using project = smallProject({
      scenario: { setup: { commands: ['cp data/seed done.txt'] } },
      turns: [],
      files: {
        'fixtures/template/initial-state/data/seed': 'seeded',
        'fixtures/template/initial-state/AGENTS.md': 'from initial-state\n',
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/done.txt')).toBe('seeded')
    expect(trialText(trial, 'fixture/AGENTS.md')).toBe('from initial-state\n')
    expect(existsSync(join(trial.dir, 'fixture/initial-state'))).toBe(false)
  })

  test('keeps folders named scenarios: nothing of a template is left out by name', async () => {
    using project = smallProject({ files: { 'fixtures/template/scenarios/x': 'kept' } })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/scenarios/x')).toBe('kept')
  })

  test('keeps executable files executable', async () => {
    using project = smallProject({
      turns: [{ run: './scripts/go' }],
      files: { 'fixtures/template/scripts/go': '#!/bin/sh\ntouch done.txt\n' },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })
})

describe('setup commands', () => {
  test('run in order, by sh, in the workspace, with target.env, before the agent', async () => {
    using project = smallProject({
      scenario: {
        target: { binary: 'sh', env: { WORD: 'hello' } },
        setup: { commands: ['echo "1 $WORD" > log', 'echo "2 $(basename "$PWD")" >> log'] },
      },
      turns: [{ run: 'cp log done.txt' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/done.txt')).toBe('1 hello\n2 fixture\n')
    const kinds = trialEvents(trial).map(({ event }) => event)
    expect(kinds.slice(0, 3)).toEqual(['setup_command', 'setup_command', 'spawn'])
  })

  test('that fail make the trial invalid before the agent starts; the others still run', async () => {
    using project = smallProject({
      scenario: { setup: { commands: ['echo first; exit 4', 'echo second > second'] } },
    })
    const run = await gantryTest(project)
    const trial = onlyTrial(run)
    expect(trial).toMatchObject({ verdict: 'invalid', gates: [], costUsd: null })
    expect(trial.reason).toBe('setup command 1 failed (exit 4): echo first; exit 4')
    expect(trialEvents(trial, 'setup_command')).toMatchObject([
      { index: 0, command: 'echo first; exit 4', exit_code: 4, output: 'first\n', success: false },
      { index: 1, exit_code: 0, success: true },
    ])
    expect(trialText(trial, 'fixture/second')).toBe('second\n')
    expect(trialEvents(trial, 'spawn')).toEqual([])
    expect(run.summary.passRate.value).toBeNull()
  })

  test('have the time limit of the agent', async () => {
    using project = smallProject({
      scenario: { setup: { commands: ['sleep 30'] }, run: { timeout_secs: 0.3 } },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial.verdict).toBe('invalid')
    expect(trial.reason).toContain('stopped at its limit of 0.3 s')
  })
})
