import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FsFixture } from 'fs-fixture'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'
import { createStreamParser } from '../command/stream.ts'
import type { AgentRequest } from '../contract.ts'
import type { CliAgent, CliLaunch } from './contract.ts'
import { createCliAgent, watchOutput } from './create-cli-agent.ts'
import { isLockedOut } from './probe.ts'

const schema = z.strictObject({ ...cliAgentShape, rules: z.string().optional() })
type Config = z.output<typeof schema>

const fixtures: FsFixture[] = []
afterAll(async () => {
  for (const fixture of fixtures) await fixture.rm()
})

/** Prints its input as Gantry events. */
const agentScript = `#!/bin/sh
if [ "$1" = --version ]; then echo "agent \${VERSION:-1.5.0}"; exit \${VERSION_CODE:-0}; fi
printf '{"event":"message","text":"%s"}\\n' "$*|$(cat)|$KEY|$SECRET|$OWN|$(cat "$HOME/settings" 2>/dev/null)"
`

describe.concurrent('an agent with its own command line', () => {
  test('gets its arguments, then those of the user, the prompt by stdin and its files beforehand', async () => {
    const { outcome, events } = await play({
      config: { args: ['--more', '-x'] },
      launch: ({ env }) => ({
        args: ['go'],
        env: { OWN: 'own' },
        stdin: '-prompt',
        files: [{ path: join(env.HOME ?? '', 'settings'), content: 'settled' }],
        warnings: ['a setting could not act'],
      }),
    })
    expect(outcome).toMatchObject({
      ending: 'exited',
      exitCode: 0,
      finalText: 'go --more -x|-prompt||caller|own|settled',
      warnings: ['a setting could not act'],
    })
    expect(events[0]).toMatchObject({ event: 'spawn', args: ['go', '--more', '-x'] })
    expect(events.at(-1)).toMatchObject({ event: 'complete', ending: 'exited', exit_code: 0 })
  })

  test('behind the boundary it has no other model access', async () => {
    const { outcome } = await play({
      endpoint: { url: 'http://127.0.0.1:1/t', key: 'k' },
      launch: ({ endpoint }) => ({ args: [], env: { KEY: endpoint?.key ?? '' } }),
    })
    expect(outcome.finalText).toBe('||k|||')
  })

  test('a file of its launch is never written to the workspace', async () => {
    const { outcome, workspace } = await play({
      launch: (request) => ({
        args: [],
        env: {},
        files: [{ path: join(request.workspace, 'settings'), content: '' }],
      }),
    })
    expect(outcome).toMatchObject({
      ending: 'not_started',
      failure: { message: expect.stringContaining('workspace') },
    })
    expect(existsSync(join(workspace, 'settings'))).toBe(false)
  })

  test('a failed file write is reported, and nothing is started', async () => {
    const { outcome, events } = await play({
      launch: () => ({ args: [], env: {}, files: [{ path: '/proc/no/settings', content: '' }] }),
    })
    expect(outcome).toMatchObject({ ending: 'not_started', failure: { reason: 'unavailable' } })
    expect(events.map(({ event }) => event)).toEqual(['spawn', 'complete'])
  })

  test('a missing agent is reported with the install command', async () => {
    const { outcome } = await play({ config: { binary: 'gantry-no-such-agent' } })
    expect(outcome.failure?.message).toBe(
      'agent mine: gantry-no-such-agent is not on the PATH of the agent; install it with: npm i agent',
    )
  })

  test('is over its budget when an external meter reports it', async () => {
    const cancel = new AbortController()
    const { outcome } = await play({
      script: `#!/bin/sh\necho '{"event":"error","reason":"auth","message":"cut off"}'\nexec sleep 300\n`,
      signal: cancel.signal,
      onEvent: ({ event }) => event === 'error' && cancel.abort('over_budget'),
    })
    expect(outcome).toMatchObject({ ending: 'over_budget', exitCode: null, failure: null })
  })

  test('is over its budget even when it exits by itself as it is stopped', async () => {
    const cancel = new AbortController()
    const { outcome } = await play({
      script: `#!/bin/sh\ntrap 'exit 7' TERM\nsleep 300 &\necho '{"event":"message","text":"x"}'\nwait\n`,
      signal: cancel.signal,
      onEvent: ({ event }) => event === 'message' && cancel.abort('over_budget'),
    })
    expect(outcome.ending).toBe('over_budget')
  })
})

describe.concurrent('probing', () => {
  test('reports version, path and supported versions', async () => {
    const { driver, env, path } = await make({})
    expect(await driver.probe({ env })).toMatchObject({
      found: true,
      version: '1.5.0',
      authenticated: false,
      path,
      supported: '1.0.0 up to, not including, 2.0.0',
    })
    expect(await driver.probe({ env: { ...env, SECRET: 'key' } })).toMatchObject({ authenticated: true })
    expect(driver.modelAccess).toEqual({ credentials: ['SECRET'], reportsCost: false })
  })

  test('without a key it has no access, unless a login, its settings or its environment may give it', () => {
    const bare = { home: 'isolated', env: {}, inherit_env: [] } as const
    expect(isLockedOut(bare, { PATH: '/bin', ANTHROPIC_API_KEY: '' })).toBe(true)
    expect(isLockedOut({ ...bare, home: 'host' }, {})).toBe(false)
    expect(isLockedOut({ ...bare, args: ['--oss'] }, {})).toBe(false)
    expect(isLockedOut({ ...bare, inherit_env: ['MY_PROXY'] }, {})).toBe(false)
    expect(isLockedOut({ ...bare, env: { CLAUDE_CODE_USE_BEDROCK: '1' } }, {})).toBe(false)
    expect(isLockedOut({ ...bare, settings: { apiKeyHelper: './key.sh' } } as typeof bare, {})).toBe(false)
    expect(isLockedOut(bare, { CLAUDE_CODE_USE_VERTEX: '1' })).toBe(false)
  })

  test.each([
    ['too old', { VERSION: '0.9.9' }, false, 'older than 1.0.0'],
    ['too new', { VERSION: '2.0.0' }, true, 'newer than'],
    ['without a version', { VERSION: 'none' }, false, 'prints no version'],
    ['broken', { VERSION_CODE: '3' }, false, 'exit code 3'],
  ])('%s: %j', async (_, given, found, problem) => {
    const { driver, env } = await make({})
    expect(await driver.probe({ env: { ...env, ...given } })).toMatchObject({
      found,
      problem: expect.stringContaining(problem),
    })
  })

  test("the PATH is the agent's, not Gantry's", async () => {
    const { driver } = await make({ config: { binary: 'sh' } })
    expect(await driver.probe({ env: { PATH: '/nowhere' } })).toMatchObject({
      found: false,
      version: null,
      problem: expect.stringContaining('npm i agent'),
    })
  })

  test('a path that is not a program is reported as such', async () => {
    for (const [binary, problem] of [
      ['./gone', 'does not exist'],
      ['./plain', 'not executable'],
    ] as const) {
      const { driver, env } = await make({ config: { binary }, files: { plain: '' } })
      expect(await driver.probe({ env })).toMatchObject({
        found: false,
        problem: expect.stringContaining(problem),
      })
    }
  })

  test('the fingerprint depends on settings, version, program, and the trees that the settings name', async () => {
    const files = { 'rules/a.txt': 'one', 'rules/deep/b.txt': 'two' }
    const { fixture, env, at } = await make({ files })
    const print = async (config: object, more: object = {}) =>
      (await at(config).probe({ env: { ...env, ...more } })).fingerprint
    const first = await print({ rules: 'rules' })
    expect(await print({ rules: 'rules' })).toBe(first)
    const others = [
      await print({ rules: 'other' }),
      await print({ rules: 'rules', args: ['-x'] }),
      await print({ rules: 'rules' }, { VERSION: '1.5.1' }),
    ]
    await fixture.writeFile('rules/deep/b.txt', 'three')
    others.push(await print({ rules: 'rules' }))
    await fixture.writeFile('rules/deep/b.txt', 'two')
    await fixture.writeFile('agent', `${agentScript}# changed\n`)
    others.push(await print({ rules: 'rules' }))
    expect(new Set([first, ...others]).size).toBe(6)
  })
})

interface Settings extends Partial<AgentRequest> {
  readonly config?: object
  readonly files?: Record<string, string>
  readonly script?: string
  readonly launch?: (request: AgentRequest) => CliLaunch
  readonly onEvent?: (event: Untimed<AgentEvent>) => void
}

async function make({ config, files, script = agentScript, launch }: Settings) {
  const fixture = await createFixture({ agent: script, ...files })
  fixtures.push(fixture)
  const path = fixture.getPath('agent')
  chmodSync(path, 0o755)
  const definition: CliAgent<Config> = {
    driver: 'fixture',
    program: 'agent',
    install: 'npm i agent',
    supported: { from: '1.0.0', below: '2.0.0' },
    credentials: ['SECRET'],
    reportsCost: false,
    launch: (_, request) => launch?.(request) ?? { args: [], env: {} },
    createParser: createStreamParser,
    inputs: ({ rules }) => (rules === undefined ? [] : [rules]),
  }
  const at = (settings: object) =>
    createCliAgent(definition, {
      name: 'mine',
      config: schema.parse({ binary: './agent', ...settings }),
      base: fixture.path,
    })
  const env = { PATH: process.env.PATH ?? '' }
  return { fixture, path, env, at, driver: at(config ?? {}) }
}

async function play({ onEvent, ...settings }: Settings) {
  const { fixture, driver, env } = await make(settings)
  const workspace = fixture.getPath('workspace')
  for (const place of ['workspace', 'home']) mkdirSync(fixture.getPath(place))
  const events: Untimed<AgentEvent>[] = []
  const { config, files, script, launch, ...request } = settings
  const outcome = await driver.run({
    prompt: 'do it',
    workspace,
    model: 'default',
    env: { ...env, HOME: fixture.getPath('home'), SECRET: 'caller' },
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    transcript: () => {},
    ...request,
    emit: (event) => {
      events.push(event)
      onEvent?.(event)
    },
  })
  return { outcome, events, workspace }
}

const raw = (line: string): Untimed<AgentEvent> => ({ event: 'raw', line })
const said: Untimed<AgentEvent> = { event: 'message', role: 'assistant', text: 'hi' }

test.each([
  ['nothing at all', [], 'nothing'],
  ['only unknown lines', [raw('garbage'), raw('{"type":"new"}')], 'nothing'],
  ['a last line that is cut', [said, raw('{"type":"text","text":"ab')], 'breaks off'],
])('an agent that exits after %s did not do its work', (_, events, reason) => {
  expect(after(events).problem('exited')).toContain(reason)
})

test.each([
  ['words', [said]],
  ['words and a line of a newer version', [said, raw('{"type":"new"}')]],
  ['words, a cut line, and more words', [said, raw('{"type":"te'), said]],
  ['words and text that is not JSON', [said, raw('Bye.')]],
])('an agent that exits after %s may have done its work', (_, events) => {
  expect(after(events).problem('exited')).toBeNull()
})

test('a stopped agent need not have printed anything, nor finished its output', () => {
  expect(after([]).problem('timed_out')).toBeNull()
  expect(after([said, raw('{"type":"te')]).problem('crashed')).toBeNull()
})

function after(events: readonly Untimed<AgentEvent>[]) {
  const words = watchOutput(() => {})
  for (const event of events) words.emit(event)
  return words
}
