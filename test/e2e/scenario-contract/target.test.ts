import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { trialEvents, trialText } from '../support/trial-files.ts'

const tool = (word: string): string => `#!/bin/sh\necho "${word} $*"\n`
const useTool = [{ run: 'tool > done.txt' }]

describe('where the target comes from', () => {
  test('the scenario names it', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      turns: useTool,
      files: { 'bin/tool': tool('scenario') },
    })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toContain('scenario')
  })

  test('`from_config` takes the one of gantry.yaml, whole', async () => {
    using project = smallProject({
      scenario: { target: 'from_config' },
      config: { target: { binary: './bin/tool', health_check: 'tool ok', env: { FLAVOUR: 'config' } } },
      turns: [{ run: 'tool $FLAVOUR > done.txt' }],
      files: { 'bin/tool': tool('configured') },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'fixture/done.txt')).toBe('configured config\n')
    expect(trialEvents(trial, 'health_check')).toMatchObject([{ command: 'tool ok', success: true }])
  })

  test('a scenario of its own wins over gantry.yaml', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      config: { target: { binary: './other/tool' } },
      turns: useTool,
      files: { 'bin/tool': tool('scenario'), 'other/tool': tool('config') },
    })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toContain('scenario')
  })

  test('--target-binary wins over both', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      turns: useTool,
      files: { 'bin/tool': tool('scenario'), 'next/tool': tool('flag') },
    })
    const run = await gantryTest(project, ['--target-binary', 'next/tool'])
    expect(trialText(onlyTrial(run), 'fixture/done.txt')).toContain('flag')
  })

  test('`from_config` without a target in the configuration is a clear error', async () => {
    using project = smallProject({ scenario: { target: 'from_config' } })
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: .*configuration, which has none/)
  })

  test.each([
    ['by name', 'no-such-tool-anywhere', []],
    ['by path', './bin/nothing', []],
    ['by flag', 'sh', ['--target-binary', './nothing']],
  ])('a tool that is not there, %s, stops the run before it starts', async (_how, binary, flags) => {
    using project = smallProject({ scenario: { target: { binary } } })
    const { code, stderr } = await gantry(project, ['test', ...flags])
    expect(code).toBe(2)
    expect(stderr).toContain('was not found')
    expect(existsSync(project.store)).toBe(false)
  })

  test('a tool that a setup command makes may be missing beforehand', async () => {
    using project = smallProject({
      scenario: {
        target: { binary: './made' },
        setup: { commands: ["printf '#!/bin/sh\\necho made' > made; chmod +x made"] },
      },
      turns: [{ run: './made > done.txt' }],
    })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toBe('made\n')
  })
})

describe(`$\{VAR} in target.env`, () => {
  const dump = [{ run: 'printf %s "$STORE" > done.txt' }]

  test('is replaced by the variable of the caller', async () => {
    using project = smallProject({
      scenario: { target: { binary: 'sh', env: { STORE: `at $\{PLACE}/x` } } },
      turns: dump,
    })
    const run = await gantryTest(project, [], { env: { PLACE: 'home' } })
    expect(trialText(onlyTrial(run), 'fixture/done.txt')).toBe('at home/x')
  })

  test('is replaced by the trial’s own directories, under both prefixes', async () => {
    using project = smallProject({
      scenario: {
        target: {
          binary: 'sh',
          env: { STORE: `$\{LLM_TOOL_TEST_FIXTURE_DIR}/.store`, TWIN: `$\{GANTRY_FIXTURE_DIR}/.store` },
        },
      },
      turns: [{ run: 'printf "%s\\n%s" "$STORE" "$TWIN" > done.txt' }],
    })
    const trial = onlyTrial(await gantryTest(project))
    const store = `${trial.dir}/fixture/.store`
    expect(trialText(trial, 'fixture/done.txt')).toBe(`${store}\n${store}`)
  })

  test('that is not set stops the run at its place in the file', async () => {
    using project = smallProject({
      scenario: { target: { binary: 'sh', env: { STORE: `$\{NOWHERE_SET}` } } },
    })
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: .*NOWHERE_SET/)
  })
})

describe('the health check', () => {
  test('makes the trial invalid before the agent starts when it fails', async () => {
    using project = smallProject({ scenario: { target: { binary: 'sh', health_check: 'echo no; exit 3' } } })
    const run = await gantryTest(project)
    const trial = onlyTrial(run)
    expect(trial).toMatchObject({ verdict: 'invalid', ending: 'not_started' })
    expect(trial.reason).toContain('health check of sh failed (exit 3)')
    expect(trialEvents(trial, 'spawn')).toEqual([])
    expect(trialEvents(trial, 'health_check')).toMatchObject([
      { exit_code: 3, output: 'no\n', success: false },
    ])
    expect(run.code).toBe(2)
  })

  test('runs after the set-up, with target.env, in the workspace', async () => {
    using project = smallProject({
      scenario: {
        target: { binary: 'sh', health_check: 'test "$(cat ready)" = "$WORD"', env: { WORD: 'yes' } },
        setup: { commands: ['printf yes > ready'] },
      },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })
})

describe('command_pattern', () => {
  const uses = [{ run: 'tool add one' }, { run: 'tool add two' }, { run: 'tool list' }, { run: 'ls' }]
  const withPattern = (command_pattern?: string) =>
    smallProject({
      scenario: {
        target: { binary: './bin/tool', ...(command_pattern !== undefined && { command_pattern }) },
      },
      turns: uses,
      files: { 'bin/tool': tool('t') },
    })

  test('defaults to the name of the binary', async () => {
    using project = withPattern()
    expect(onlyTrial(await gantryTest(project)).metrics).toMatchObject({
      total_commands: 3,
      source: 'shim',
    })
  })

  test('with a group counts per subcommand', async () => {
    using project = withPattern('tool\\s+(\\S+)')
    const { metrics } = onlyTrial(await gantryTest(project))
    expect(metrics.subcommands).toMatchObject({ add: { total: 2, unique: 2 }, list: { total: 1 } })
  })

  test('without a group gives totals only', async () => {
    using project = withPattern('tool add')
    const { metrics } = onlyTrial(await gantryTest(project))
    expect(metrics).toMatchObject({ total_commands: 2, subcommands: {} })
  })

  test('that is blank counts as absent', async () => {
    using project = withPattern('  ')
    expect(onlyTrial(await gantryTest(project)).metrics.total_commands).toBe(3)
  })

  test('that does not parse is refused with its place', async () => {
    using project = withPattern('tool (')
    const { code, stderr } = await gantry(project, ['test'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/case\.yaml:\d+:\d+: command_pattern/)
  })
})
