import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needs } from '../../../test/support/needs.ts'
import { claudeCodeCodec } from '../../agents/claude-code/hooks.ts'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { hookInstallerOf, installableAgents } from '../../agents/hook-installers.ts'
import { type AgentStatus, guardStatus, isArmed } from '../../guard/status/guard-status.ts'
import { findAgentAbove } from '../../guard/unlock/prove-person.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../../guard-engine/ledger/open-ledger.ts'
import { ledgerFiles } from '../../guard-engine/ledger/read-ledger.ts'
import { hookLauncher, launchedPrograms, writeLauncher } from '../../guard-install/hook-launcher.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { displayWidth } from '../../report/display-width.ts'
import type { CliContext, CliStream } from '../context.ts'
import { guardCommand } from './index.ts'
import { printStatus } from './status.ts'

let base: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-guard-')))
  for (const name of ['project/.git', 'home', 'bin']) mkdirSync(join(base, name), { recursive: true })
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const settings = (): string => join(base, 'project/.claude/settings.local.json')

function agentProgram(name: string, version: string): void {
  writeFileSync(join(base, 'bin', name), `#!/bin/sh\necho ${version}\n`)
  chmodSync(join(base, 'bin', name), 0o755)
}

interface Said {
  readonly out: string
  readonly code: number
}

async function guard(args: readonly string[], columns = 80, env: Record<string, string> = {}): Promise<Said> {
  let out = ''
  let code = 0
  const stream: CliStream = {
    write: (text) => {
      out += text
    },
    isTTY: false,
    columns,
    color: false,
  }
  const context: CliContext = {
    cwd: join(base, 'project'),
    env: { HOME: join(base, 'home'), PATH: `${join(base, 'bin')}:/usr/bin:/bin`, ...env },
    stdout: stream,
    stderr: stream,
    signal: new AbortController().signal,
    setExitCode: (next) => {
      code = next
    },
  }
  const command = guardCommand(context)
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeOut: stream.write, writeErr: stream.write })
  try {
    await command.parseAsync(args, { from: 'user' })
  } catch (error) {
    const { exitCode = 2, message = '' } = error as { exitCode?: number; message?: string }
    return { out: out + message, code: exitCode }
  }
  return { out, code }
}

describe('gantry guard install', () => {
  test('installs for the agents it finds, with reasons, and the second time reports that nothing is to do', async () => {
    agentProgram('claude', '2.1.325')
    mkdirSync(join(base, 'project/.gemini'))
    const first = await guard(['install'])
    expect(first.out).toContain(
      `claude-code: is installed in ${settings()} (${join(base, 'bin/claude')} exists)`,
    )
    expect(first.out).toContain('gemini: is installed in')
    expect(first.out).toContain('the project has .gemini')
    expect(first.out).not.toContain('codex')
    const { PreToolUse } = JSON.parse(readFileSync(settings(), 'utf8')).hooks
    const [{ command, onFailure }] = PreToolUse[0].hooks
    expect(onFailure).toBe('block')
    // It does nothing for a colleague without Gantry.
    const [, path = ''] = /\|\| exit 0; exec (\S+gantry-hook\.cjs) PreToolUse$/.exec(command) ?? []
    const launcher = readFileSync(path, 'utf8')
    expect(launchedPrograms(launcher)).toEqual([process.execPath, hookBinPath()])
    expect((await guard(['install'])).out).toContain('claude-code: is already installed in')
  })

  test('a dry run shows a diff, as JSON too, and writes nothing', async () => {
    const { out } = await guard(['install', '--agent', 'codex,cursor', '--dry-run'])
    expect(out).toContain('--- /dev/null')
    expect(out).toContain('+  "hooks": {')
    const { agents, dry_run } = JSON.parse(
      (await guard(['install', '--agent', 'codex', '--dry-run', '--json'])).out,
    )
    expect(dry_run).toBe(true)
    expect(agents).toMatchObject([
      { agent: 'codex', result: 'installed', because: 'asked for', backup: null },
    ])
    expect((await guard(['status', '--json'])).out).not.toContain('"presence"')
  })

  test.each([
    [['install'], 'no agent is on the PATH'],
    [['install', '--agent', 'builtin'], 'Write one of: claude-code'],
    [['install', '--scope', 'plugin'], '--scope plugin needs the directory'],
    [['install', '--scope', 'plugin', 'x', '--agent', 'codex'], 'for claude-code only'],
    [['install', 'x', '--agent', 'codex'], 'is only allowed with --scope plugin'],
    [['install', '--root', 'nowhere'], 'is not a directory'],
    [['install', '--scope', 'galaxy'], 'Allowed choices'],
  ])('%j is rejected with a message', async (args, message) => {
    expect(await guard(args)).toMatchObject({
      out: expect.stringContaining(message),
      code: expect.any(Number),
    })
  })

  test('an agent cannot change or remove an installed guard', async () => {
    await guard(['install', '--agent', 'claude-code'])
    const before = readFileSync(settings(), 'utf8')
    for (const args of [['uninstall'], ['install', '--agent', 'gemini']]) {
      const { out, code } = await guard(args, 80, { CLAUDECODE: '1' })
      expect(out).toContain('an agent seems to be running it')
      expect(code).toBe(2)
    }
    expect(readFileSync(settings(), 'utf8')).toBe(before)
  })
})

describe('gantry guard status', () => {
  test('nothing installed is not a failure', async () => {
    const { out, code } = await guard(['status'])
    expect(out).toContain('not installed')
    expect(code).toBe(0)
  })

  test('an installed guard is armed, an outdated, disabled or broken one is not', async () => {
    agentProgram('claude', '2.1.325')
    await guard(['install', '--agent', 'claude-code'])
    const armed = await guard(['status', '--agent', 'claude-code'])
    expect(armed).toMatchObject({ code: 0, out: expect.stringContaining('program: 2.1.325') })
    expect(armed.out).toContain('armed')
    expect(armed.out).toContain('cannot enforce:')
    const text = readFileSync(settings(), 'utf8')
    const broken: readonly (readonly [string, string])[] = [
      [
        text.replaceAll(/exec \/[^" ]*gantry-hook/g, 'exec /gone/gantry-hook'),
        '/gone/gantry-hook.cjs, which the hook starts',
      ],
      [text.replace('"timeout": 600', '"timeout": 1'), 'timeout is 1 instead of 600'],
      [text.replace('{', '{"disableAllHooks": true,'), '`disableAllHooks` is true'],
      [text.replace('{', '{,'), 'a key in double quotes is expected'],
    ]
    for (const [changed, message] of broken) {
      writeFileSync(settings(), changed)
      const { out, code } = await guard(['status', '--agent', 'claude-code'])
      expect(out.replaceAll(/\s+/g, ' ')).toContain(message)
      expect(code).toBe(1)
    }
  })

  test('lines of the ledger that another program wrote are a problem', async () => {
    await guard(['install', '--agent', 'claude-code'])
    const home = guardHome({ HOME: join(base, 'home') })
    const path = ledgerFiles(home, realpathSync(join(base, 'project')))[0] ?? ''
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"kind":"note"}\n`)
    const { out, code } = await guard(['status'])
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      '1 line of the ledger of this project was written or changed',
    )
    expect(code).toBe(1)
  })

  test('a hook program that was changed, cannot start or starts a missing file is not armed', async () => {
    await guard(['install', '--agent', 'claude-code'])
    const { hooks } = JSON.parse(readFileSync(settings(), 'utf8'))
    const path: string = /exec (\S+)/.exec(hooks.Stop[0].hooks[0].command)?.[1] ?? ''
    const text = readFileSync(path, 'utf8')
    const status = async () => (await guard(['status', '--agent', 'claude-code'], 500)).out
    writeFileSync(path, text.replace('fail(error)', 'process.exit(0)'))
    expect(await status()).toContain('was changed')
    writeFileSync(path, text)
    expect(await status()).not.toContain('problem')
    chmodSync(path, 0o600)
    expect(await status()).toContain('is not executable')
    const gone = { node: '/gone/node', hookBin: '/gone/hook-bin.js' }
    const launcher = hookLauncher('claude-code', gone, { GANTRY_GUARD_HOME: join(base, 'guard') })
    if (launcher !== null) writeLauncher(launcher)
    writeFileSync(settings(), readFileSync(settings(), 'utf8').replaceAll(path, launcher?.path ?? ''))
    const out = await status()
    for (const program of Object.values(gone))
      expect(out).toContain(`${program}, which the hook starts, does not exist`)
  })

  test('hooks switched off by the settings of the user are not armed', async () => {
    await guard(['install', '--agent', 'claude-code'])
    mkdirSync(join(base, 'home/.claude'))
    writeFileSync(join(base, 'home/.claude/settings.json'), '{"disableAllHooks": true}')
    expect(await guard(['status'])).toMatchObject({ code: 1, out: expect.stringContaining('disabled') })
  })

  test.each([
    ['harness.json', '{ "middleware": ', 'harness.json:1:17: is not valid JSON'],
    ['harness.json', '{ "sate": {} }', "harness.json:1:3: unknown key 'sate'"],
    ['gantry.yaml', 'guard:\n  state: { dir: 3 }\n', 'gantry.yaml:2:17: state.dir'],
  ])('with an invalid %s (%s) it is not armed, and the exit code is 1', async (name, text, problem) => {
    writeFileSync(join(base, 'project', name), text)
    expect(await guard(['status'], 400)).toMatchObject({ code: 1, out: expect.stringContaining(problem) })
    await guard(['install', '--agent', 'claude-code'])
    const { out, code } = await guard(['status', '--json'])
    const { agents, settings_problem: told } = JSON.parse(out)
    const found = agents.find(({ agent }: AgentStatus) => agent === 'claude-code')
    expect({ code, state: found.state, told }).toEqual({
      code: 1,
      state: 'not_armed',
      told: expect.stringContaining(problem),
    })
    expect(found.problems).toEqual([
      expect.stringContaining('every call is denied until the settings are valid'),
    ])
  })

  test('views that cannot be written are reported', async () => {
    expect(JSON.parse((await guard(['status', '--json'])).out).views_problem).toBeNull()
    mkdirSync(join(base, 'project/.harness'))
    writeFileSync(join(base, 'project/.harness/state.json'), 'mine')
    expect((await guard(['status'], 400)).out).toContain('are not overwritten: state.json.')
    const { views_problem: viewsProblem } = JSON.parse((await guard(['status', '--json'])).out)
    expect(viewsProblem).toContain('not views of the guard')
  })

  test('a guard that a person has unlocked says so, and until when', async () => {
    const unlocked = (untilMs: number) =>
      appendNote({
        guardHome: guardHome({ HOME: join(base, 'home') }),
        root: realpathSync(join(base, 'project')),
        note: { kind: 'unlocked', untilMs, by: 'dev' },
        nowMs: Date.now(),
      })
    unlocked(Date.now() + 600_000)
    expect((await guard(['status'], 200)).out).toContain("agents may change the guard's own files")
    unlocked(0)
    expect(JSON.parse((await guard(['status', '--json'])).out).unlocked_until).toBeNull()
  })

  test('duplicate hooks are reported', async () => {
    await guard(['install', '--agent', 'claude-code'])
    mkdirSync(join(base, 'home/.claude'))
    writeFileSync(join(base, 'home/.claude/settings.json'), readFileSync(settings()))
    const { out, code } = await guard(['status'], 200)
    expect(out).toContain('every event is judged 2 times')
    expect(code).toBe(1)
  })

  test('Codex is not armed before its first event, because no file shows whether it trusts a hook', async () => {
    await guard(['install', '--agent', 'codex'])
    const { out, code } = await guard(['status'])
    expect(out).toContain('installed, unproven')
    expect(code).toBe(1)
    const request = {
      agents: ['codex'] as const,
      place: {
        root: join(base, 'project'),
        home: join(base, 'home'),
        env: { HOME: join(base, 'home') },
      },
      program: { node: process.execPath, hookBin: hookBinPath() },
      codecOf: () => hookCodecs.codex,
      findAgent: async () => null,
      enforcement: 'notice',
      kernel: { kind: 'works', way: 'bwrap' },
      settingsProblem: null,
      sealedNotice: null,
      readOnly: [],
    } as const
    const seen = await guardStatus({ ...request, lastEvent: () => '2026-01-01T00:00:00.000Z' })
    expect(seen[0]?.state).toBe('armed')
    expect(isArmed(seen)).toBe(true)
  })

  test.each([80, 40])('fits %i columns except for paths, which are not wrapped', async (columns) => {
    for (const name of ['claude', 'codex', 'gemini', 'copilot', 'cursor-agent', 'opencode'])
      agentProgram(name, '1.2.3')
    await guard(['install'])
    const { out } = await guard(['status'], columns)
    for (const agent of installableAgents) expect(out).toContain(agent)
    const tooWide = stripVTControlCharacters(out)
      .split('\n')
      .filter((line) => displayWidth(line) > columns && line.trim().includes(' '))
    expect(tooWide).toEqual([])
  })

  test('limits of an agent are reported, one sentence each', () => {
    const limits: AgentStatus['limits'] = [
      { capability: 'refuseStop', kind: 'no', why: 'It has no such hook.' },
    ]
    let out = ''
    const stdout = { write: (text: string) => (out += text), columns: 80, isTTY: false, color: false }
    printStatus(
      {
        root: '/p',
        node: '/n',
        hookBin: '/h',
        viewsProblem: null,
        settingsProblem: null,
        ledgerProblem: null,
        sealedSettings: null,
        unlockedUntil: null,
        unseenChanges: [],
        agents: [
          {
            agent: 'opencode',
            found: null,
            installs: [
              { scope: 'project', path: '/x', presence: 'installed', problems: [], isKernel: false },
            ],
            state: 'armed',
            problems: [],
            lastEvent: null,
            limits,
            protection: { layer: 'notice', why: 'changes are noticed after the call' },
          },
        ],
      },
      { stdout: { ...stdout, write: (text) => void stdout.write(text) } } as CliContext,
    )
    expect(out).toContain('refuse to stop: It has no such hook.')
  })
})

describe('gantry guard uninstall', async () => {
  const isPerson = (await findAgentAbove({ env: {}, pid: process.pid })) === null

  needs('shell that no agent has started', isPerson)(
    'removes what was installed, and reports it',
    async () => {
      mkdirSync(join(base, 'project/.claude'))
      writeFileSync(settings(), '{"model":"x"}')
      await guard(['install', '--agent', 'claude-code'])
      expect((await guard(['uninstall', '--dry-run'])).out).toContain('would be restored')
      const { out } = await guard(['uninstall'])
      expect(out).toContain(`claude-code: restored exactly: ${settings()}`)
      expect(readFileSync(settings(), 'utf8')).toBe('{"model":"x"}')
      expect((await guard(['uninstall'])).out).toContain('The guard is not installed')
    },
  )
})

test('every agent has an installer for what its codec registers', () => {
  for (const agent of installableAgents) {
    const command = { program: '/n', args: ['/hook-bin.js', '--agent', agent], agentVersion: null }
    const text = hookInstallerOf(agent, hookCodecs[agent]).install(null, command)
    for (const { event } of hookCodecs[agent].events) expect(text).toContain(event)
  }
  expect(claudeCodeCodec.events.filter(({ mustBlock }) => mustBlock).map(({ event }) => event)).toContain(
    'PreToolUse',
  )
})

describe('a guard home with shell characters', () => {
  test('is reported only where Copilot would fail because of it', async () => {
    const home = (name: string) => ({ GANTRY_GUARD_HOME: join(base, name) })
    const install = async (agent: string, name: string) =>
      (await guard(['install', '--dry-run', '--agent', agent], 80, home(name))).out
    const warning = 'Copilot would deny every tool'
    for (const agent of ['claude-code', 'copilot']) {
      for (const name of ['my guard', "it's", 'a$b']) expect(await install(agent, name)).toContain(warning)
      expect(await install(agent, 'guard')).not.toContain(warning)
    }
    expect(await install('codex', 'my guard')).not.toContain(warning)
  })
})
