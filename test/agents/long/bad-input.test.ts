import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { startBoundary } from '../../e2e/boundary/lab.ts'
import { filesWith, linesOf, onlyRun, processesOf, runTests, until } from '../../e2e/robustness/lab.ts'
import { gantry, onlyTrial, startGantry } from '../../e2e/support/gantry.ts'
import { makeProject, smallScenario, type TestProject } from '../../e2e/support/project.ts'
import { trialEvents, trialText } from '../../e2e/support/trial-files.ts'
import { whenInstalled } from '../support/when-installed.ts'

const transcript = 'transcript.raw.txt'
const once = ['--infra-retries', '0', '--no-cache']

/** One scenario and one agent; `files` may contain a program that replaces the agent's. */
function project(agent: Record<string, unknown>, files: Record<string, unknown> = {}): TestProject {
  return makeProject({
    'gantry.yaml': { agents: { real: agent } },
    'scenarios/case.yaml': smallScenario(),
    'fixtures/template/AGENTS.md': 'Write done.txt.\n',
    ...files,
  })
}

/** An agent that gives up soon, to test what happens then. */
const real = (id: string): Record<string, unknown> => ({
  driver: id,
  binary: findAgent(id)?.program,
  ...(id === 'claude-code' && { env: { CLAUDE_CODE_MAX_RETRIES: '1' } }),
  ...(id === 'codex' && {
    config: {
      'model_providers.gantry.request_max_retries': 0,
      'model_providers.gantry.stream_max_retries': 0,
    },
  }),
})

/** A model that lets the agent work once and then fails for ever. */
const failing = (status: number, type: string, message: string) => ({
  turns: [{ calls: [{ run: 'echo worked > worked.txt' }] }, { error: { status, type, message } }],
})

/** Where each agent finds its provider and its key. */
const providers = {
  'claude-code': (url: string, key: string) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
  codex: (url: string, key: string) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
}

describe.each(['claude-code', 'codex'] as const)('%s', (id) => {
  whenInstalled([id], 'with a provider that fails', () => {
    const metered = { ...real(id), meter: 'always' }

    test('because the key is wrong: infra for that reason, and the key is nowhere', async () => {
      using place = project(metered, { 'model.yaml': { turns: [{ text: 'never' }] } })
      const server = await startBoundary(place, ['serve', '--script', 'model.yaml'])
      const key = 'sk-wrong-0123456789abcdef'
      const run = await runTests(place, once, { env: providers[id](new URL(server.url).origin, key) })
      await server.interrupt()
      expect(onlyTrial(run)).toMatchObject({ verdict: 'infra', failure: 'auth' })
      expect(run.code).toBe(3)
      expect(filesWith(place.store, key)).toEqual([])
      expect(processesOf(place)).toEqual([])
    })

    test('because the key was revoked in the middle: infra, and what happened before is kept', async () => {
      using place = project(metered, {
        'model.yaml': failing(401, 'authentication_error', 'this key was revoked'),
      })
      const server = await startBoundary(place, ['serve', '--script', 'model.yaml'])
      const env = providers[id](new URL(server.url).origin, server.key)
      const run = await runTests(place, once, { env })
      await server.interrupt()
      const trial = onlyTrial(run)
      expect(trial).toMatchObject({ verdict: 'infra', failure: 'auth' })
      expect(trial.reason).toContain('revoked')
      expect(trialEvents(trial, 'tool_call').map(({ command }) => command)).toEqual([
        'echo worked > worked.txt',
      ])
      expect(existsSync(join(trial.dir, 'fixture/worked.txt'))).toBe(true)
      expect(trialEvents(trial, 'complete').length).toBe(1)
    })

    test('because there is no such model: infra with a reason that names it', async () => {
      using place = project(
        { ...real(id), model_script: 'model.yaml' },
        {
          'model.yaml': {
            turns: [{ error: { status: 404, type: 'not_found_error', message: 'model: nonsense-9' } }],
          },
        },
      )
      const run = await runTests(place, [...once, '--model', 'nonsense-9'])
      const trial = onlyTrial(run)
      expect(trial.verdict).toBe('infra')
      expect(trial.reason).toContain('nonsense-9')
      expect(run.code).toBe(3)
    })
  })
})

describe('a program that cannot be an agent', () => {
  const notAnAgent = (text: string) => ({ 'agent.sh': text })
  const says = (version: string, body: string) =>
    `#!/bin/sh\n[ "$1" = --version ] && { echo "${version}"; exit 0; }\ncat > /dev/null\n${body}\n`
  const agent = { driver: 'claude-code', binary: './agent.sh', model_script: 'model.yaml' }
  const model = { 'model.yaml': { turns: [{ text: 'never asked' }] } }
  const claude = (body: string) => notAnAgent(says('2.1.325 (Claude Code)', body))

  test.each([
    ['is missing', {}, 'does not exist'],
    ['is not executable', { 'agent.sh': 'echo 2.1.325\n' }, 'is not executable'],
    ['is too old', notAnAgent(says('0.2.9 (Claude Code)', 'true')), '0.2.9 is older'],
    ['prints no version', notAnAgent(says('hello', 'true')), 'prints no version'],
    [
      'ends with an error when asked for its version',
      notAnAgent('#!/bin/sh\necho no >&2\nexit 7\n'),
      'exit code 7',
    ],
  ])('because it %s is reported before anything is run, with what to do', async (_, files, message) => {
    using place = project(agent, { ...model, ...files })
    const { code, stderr } = await gantry(place, ['test', ...once])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr).toContain("'real'")
    expect(existsSync(join(place.store, 'runs'))).toBe(false)
  })

  test('prints garbage and exits 0: the trial fails, and every byte is kept', async () => {
    using place = project(agent, {
      ...model,
      ...claude(`printf '\\000\\377 garbage {"type": [\\n}}}\\n\\033[31mred\\n'; printf 'no newline'`),
    })
    const trial = onlyTrial(await runTests(place, once))
    expect(trial).toMatchObject({ verdict: 'infra', failure: 'malformed', agentExitCode: 0 })
    expect(trialText(trial, transcript)).toContain('garbage {"type": [\n}}}\n')
    expect(trialText(trial, transcript)).toMatch(/no newline\n?$/)
    expect(trialEvents(trial, 'raw').map(({ line }) => line)).toContain('no newline')
  })

  test('dies in the middle of a line: crashed, and the half line is kept', async () => {
    using place = project(agent, {
      ...model,
      ...claude(`printf '{"type":"assistant","message":{"content":[{"type":"te'; kill -9 $$`),
    })
    const trial = onlyTrial(await runTests(place, once))
    expect(trial).toMatchObject({ verdict: 'infra', failure: 'malformed', ending: 'crashed' })
    expect(trialText(trial, transcript)).toContain('{"type":"assistant","message":{"content":[{"type":"te')
    expect(trialEvents(trial, 'raw').length).toBe(1)
  })

  test('prints 100 MB of garbage, in lines and in one: the transcript has all of it', async () => {
    const body = `yes 'garbage that is no JSON at all' | head -c 50000000; head -c 50000000 /dev/zero | tr '\\0' x`
    using place = project(agent, { ...model, ...claude(body) })
    const trial = onlyTrial(await runTests(place, once))
    expect(trial).toMatchObject({ verdict: 'infra', failure: 'malformed', ending: 'exited' })
    expect(statSync(join(trial.dir, transcript)).size).toBeGreaterThanOrEqual(100_000_000)
  })

  test('prints the format of another agent: nothing counts, and every line is kept', async () => {
    const lines = readFileSync(join(import.meta.dirname, foreign), 'utf8')
    using place = project(agent, { ...model, 'lines.jsonl': lines })
    place.write(claude(`cat '${place.path('lines.jsonl')}'`))
    const trial = onlyTrial(await runTests(place, once))
    expect(trial).toMatchObject({ verdict: 'infra', failure: 'malformed', ending: 'exited' })
    expect(trialText(trial, transcript)).toContain(lines.trimEnd())
    expect(trialEvents(trial, 'tool_call')).toEqual([])
    expect(trialEvents(trial, 'raw').length).toBe(lines.trimEnd().split('\n').length)
  })

  test('leaves a process behind: the process is ended', async () => {
    using place = project(agent, {
      ...model,
      'stay.sh': 'echo $$ > "$1.tmp"; mv "$1.tmp" "$1"; exec sleep 300\n',
    })
    const pid = place.path('pid')
    place.write(
      claude(
        `setsid sh '${place.path('stay.sh')}' '${pid}' >/dev/null 2>&1 &\nuntil [ -e '${pid}' ]; do sleep 0.05; done; echo bye`,
      ),
    )
    const trial = onlyTrial(await runTests(place, once))
    expect(trial.ending).toBe('exited')
    expect(readFileSync(pid, 'utf8')).toMatch(/^\d+\n$/)
    expect(processesOf(place)).toEqual([])
    expect(trialText(trial, transcript)).toContain('bye')
  })
})

const foreign = '../../../src/agents/codex/fixtures/codex-0.166.0-work.exec.jsonl'

whenInstalled(['claude-code'], 'a plugin', () => {
  test('that does not load makes the trial invalid, and says why', async () => {
    using place = project(
      { ...real('claude-code'), plugins: ['./broken'], model_script: 'model.yaml' },
      {
        'model.yaml': { turns: [{ calls: [{ run: 'echo x > done.txt' }] }, { text: 'Done.' }] },
        'broken/.claude-plugin/plugin.json': '{"name": "broken", ',
        'broken/hooks/hooks.json': '{"hooks": {"PreToolUse": "nonsense"}}',
      },
    )
    const run = await runTests(place, once)
    const trial = onlyTrial(run)
    expect(trial.verdict).toBe('invalid')
    expect(trial.reason).toMatch(/plugin/i)
    expect(trial.reason).toContain('broken')
    expect(run.code).toBe(2)
  })
})

/** Two attempts: the first ends at once, the second waits at its gate until that is opened. */
function waiting(id: string): TestProject & { readonly starts: string; open(): void } {
  const place = project({ ...real(id), model_script: 'model.yaml' })
  const starts = place.path('starts')
  const gate = place.path('gate')
  const command = `echo "$GANTRY_ATTEMPT" >> ${starts}; [ "$GANTRY_ATTEMPT" = 1 ] || [ -e ${gate} ] || sleep 300; echo done > done.txt`
  place.write({ 'model.yaml': { turns: [{ calls: [{ run: command }] }, { text: 'Done.' }] } })
  return Object.assign(place, { starts, open: () => place.write({ gate: '' }) })
}

describe.each([
  ['killed at once', 'claude-code', 'SIGKILL', null],
  ['interrupted', 'codex', 'SIGINT', 130],
] as const)('gantry, %s while a real agent works', (_, id, signal, code) => {
  whenInstalled([id], id, () => {
    test('ends the agent too, and a later run continues without repeating finished work', async () => {
      using place = waiting(id)
      const { child, ended } = startGantry(place, ['test', '--repeat', '2', '-j', '1', '--no-cache'])
      await until('the second attempt waits', () => linesOf(place.starts).includes('2'))
      child.kill(signal)
      expect((await ended).code).toBe(code)
      await until('everything is gone', () => processesOf(place).length === 0)
      place.open()
      const resumed = await runTests(place, ['--resume', onlyRun(place)])
      expect(resumed.trials.map(({ verdict }) => verdict)).toEqual(['pass', 'pass'])
      expect(resumed.code).toBe(0)
      expect(linesOf(place.starts)).toEqual(['1', '2', '2'])
    })
  })
})
