import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import type { HookRegistration } from './hook-codec.ts'
import type { HookedAgent } from './hook-codecs.ts'
import type { HookCommand, HookPlace } from './hook-installer.ts'
import { hookInstallerOf, installableAgents } from './hook-installers.ts'

const events: readonly HookRegistration[] = [
  { event: 'SessionStart', kind: 'session_start', timeoutSeconds: 10, mustBlock: false },
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*', timeoutSeconds: 10, mustBlock: true },
  { event: 'Stop', kind: 'stop', timeoutSeconds: 600, mustBlock: true },
]
const place: HookPlace = { root: '/p', home: '/h', env: {} }
const commandOf = (agent: string, node = '/opt/node 24/bin/node'): HookCommand => ({
  program: node,
  args: ['/opt/it’s/hook-bin.js', '--agent', agent],
})
const json = installableAgents.filter((agent) => agent !== 'opencode')
const own = (agent: HookedAgent) => hookInstallerOf(agent, { events })

describe.each(installableAgents)('the installer of %s', (agent) => {
  const installer = own(agent)
  const command = commandOf(agent)

  test('installs without a file, finds itself, and leaves nothing behind', () => {
    expect(installer.inspect(null, command)).toEqual({ kind: 'absent' })
    const text = installer.install(null, command)
    expect(installer.inspect(text, command)).toEqual({ kind: 'installed' })
    expect(installer.install(text, command)).toBe(text)
    expect(installer.programs(text)).toEqual(['/opt/node 24/bin/node', '/opt/it’s/hook-bin.js'])
    expect(installer.uninstall(text)).toBeNull()
  })

  test('a new program replaces the old one, and the difference is reported', () => {
    const old = installer.install(null, commandOf(agent, '/usr/bin/node'))
    const found = installer.inspect(old, command)
    expect(found.kind).toBe('outdated')
    const text = installer.install(old, command)
    expect(text).toBe(installer.install(null, command))
    expect(text).not.toContain('/usr/bin/node')
  })

  test('an event that is no longer registered is removed by the next install', () => {
    const more = hookInstallerOf(agent, {
      events: [...events, { ...events[0], event: 'Gone' } as HookRegistration],
    })
    const text = more.install(null, command)
    expect(installer.inspect(text, command).kind).toBe('outdated')
    expect(installer.install(text, command)).toBe(installer.install(null, command))
  })

  test('its first file is below the project for the project and below home for the user', () => {
    expect(installer.files('project', place)[0]).toMatch(/^\/p\//)
    expect(installer.files('user', place)[0]).toMatch(/^\/h\//)
  })
})

describe.each(json)('the installer of %s, in a file with other content', (agent) => {
  const installer = own(agent)
  const command = commandOf(agent)

  test('a hook of ours that was moved into another group is found and removed alone', () => {
    const ours = JSON.parse(installer.install(null, command)).hooks.Stop[0]
    const moved = JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'echo' }, ...(ours.hooks ?? [ours])] }] },
    })
    expect(installer.inspect(moved, command).kind).toBe('outdated')
    expect(JSON.parse(installer.uninstall(moved) ?? '')).toEqual({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'echo' }] }] },
    })
  })

  test.each([
    ['{"hooks": []}', 1, 11],
    ['{\n  "hooks": {\n    "Stop": {}\n  }\n}', 3, 13],
    ['{\n  "a": 1,\n}', 2, 9],
    ['[]', 1, 1],
    ['{"a": tru}', 1, 7],
  ])('refuses %j with the position', (broken, line, column) => {
    const error = caught(() => installer.install(broken, command))
    expect(error).toMatchObject({ code: 'INVALID_FILE', at: { line, column } })
    expect(() => installer.inspect(broken, command)).toThrow(GantryError)
  })
})

describe('the written hooks', () => {
  const first = (agent: HookedAgent, event: string): unknown =>
    JSON.parse(own(agent).install(null, commandOf(agent, '/bin/node'))).hooks[event][0]
  const args = (agent: string, event: string): readonly string[] => [
    '/opt/it’s/hook-bin.js',
    '--agent',
    agent,
    event,
  ]

  test('Claude Code: program and arguments are separate, and a failure blocks', () => {
    expect(first('claude-code', 'PreToolUse')).toEqual({
      matcher: '*',
      hooks: [
        {
          type: 'command',
          command: '/bin/node',
          args: args('claude-code', 'PreToolUse'),
          timeout: 10,
          onFailure: 'block',
        },
      ],
    })
    expect(first('claude-code', 'SessionStart')).toEqual({
      hooks: [
        { type: 'command', command: '/bin/node', args: args('claude-code', 'SessionStart'), timeout: 10 },
      ],
    })
  })

  test('Codex: one shell line without extra fields', () => {
    expect(first('codex', 'Stop')).toEqual({
      hooks: [
        { type: 'command', command: `/bin/node '/opt/it’s/hook-bin.js' --agent codex Stop`, timeout: 600 },
      ],
    })
  })

  test('Gemini CLI: milliseconds and a name', () => {
    expect(first('gemini', 'Stop')).toMatchObject({ hooks: [{ name: 'gantry-guard', timeout: 600_000 }] })
  })

  test('Copilot: a file of version 1 with separate program and arguments', () => {
    expect(JSON.parse(own('copilot').install(null, commandOf('copilot')))).toMatchObject({ version: 1 })
    expect(first('copilot', 'PreToolUse')).toEqual({
      type: 'command',
      matcher: '*',
      exec: '/bin/node',
      args: args('copilot', 'PreToolUse'),
      timeoutSec: 10,
    })
  })

  test('Cursor: fails closed where it must block, and has no time limit at the stop', () => {
    expect(first('cursor', 'SessionStart')).not.toHaveProperty('loop_limit')
    expect(first('cursor', 'Stop')).toMatchObject({ failClosed: true, loop_limit: null, timeout: 600 })
  })

  test('the shell restores the quoted words exactly', () => {
    const text = own('codex').install(null, { ...commandOf('codex'), program: `/a b/$(x)'"\\n` })
    const line: string = JSON.parse(text).hooks.Stop[0].hooks[0].command
    const shown = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    expect(shown).toBe(`/a b/$(x)'"\\n\n/opt/it’s/hook-bin.js\n--agent\ncodex\nStop\n`)
  })
})

describe('a hook of Codex before a tool', () => {
  /** Runs the hook with a shell in place of its program. */
  const run = (program: string, ...words: readonly string[]) => {
    const args = [...words, '/opt/hook-bin.js', '--agent', 'codex']
    const text = own('codex').install(null, { program, args })
    const line: string = JSON.parse(text).hooks.PreToolUse[0].hooks[0].command
    expect(own('codex').programs(text)).toContain('/opt/hook-bin.js')
    return spawnSync('sh', ['-c', line], { encoding: 'utf8' })
  }

  test('passes on the answer of its program, whether it allows or denies', () => {
    expect(run('/bin/sh', '-c', 'echo yes')).toMatchObject({ status: 0, stdout: 'yes\n', stderr: '' })
    expect(run('/bin/sh', '-c', 'echo no >&2; exit 2')).toMatchObject({ status: 2, stderr: 'no\n' })
  })

  test('blocks with a message on any other failure: with another code, or without a message, Codex continues', () => {
    for (const { status, stderr } of [
      run('/bin/sh', '-c', 'exit 1'),
      run('/bin/sh', '-c', 'kill -9 $$'),
      run('/no/such/node'),
    ]) {
      expect(status).toBe(2)
      expect(stderr).toContain('nothing runs unjudged')
    }
  })

  test('does not block a stop that way, because the agent would never end', () => {
    const text = own('codex').install(null, commandOf('codex'))
    expect(JSON.parse(text).hooks.Stop[0].hooks[0].command).not.toContain('exit 2')
  })
})

describe('reasons why a hook does not run', () => {
  const installed = (agent: HookedAgent, more: object): string =>
    JSON.stringify({ ...JSON.parse(own(agent).install(null, commandOf(agent))), ...more })

  test('a switch in the same file disables it', () => {
    expect(
      own('claude-code').inspect(
        installed('claude-code', { disableAllHooks: true }),
        commandOf('claude-code'),
      ),
    ).toEqual({
      kind: 'disabled',
      why: '`disableAllHooks` is true in this file',
    })
    for (const off of [
      { hooksConfig: { enabled: false } },
      { tools: { enableHooks: false } },
      { hooksConfig: { disabled: ['gantry-guard'] } },
    ])
      expect(own('gemini').inspect(installed('gemini', off), commandOf('gemini')).kind).toBe('disabled')
  })

  test('Claude Code: the file with the highest precedence decides', () => {
    const [local, shared, user, managed] = own('claude-code').files('project', place)
    const off = (...given: readonly (readonly [string | undefined, object])[]): string | null =>
      own('claude-code').switchedOff?.(
        given.map(([path = '', value]) => ({ path, text: JSON.stringify(value) })),
        place,
      ) ?? null
    expect(off([user, { disableAllHooks: true }])).toContain('/h/.claude/settings.json')
    expect(off([user, { disableAllHooks: true }], [shared, { disableAllHooks: false }])).toBeNull()
    expect(off([local, { disableAllHooks: true }], [shared, { disableAllHooks: false }])).toContain(
      'settings.local.json',
    )
    expect(off([managed, { disableAllHooks: true }], [local, { disableAllHooks: false }])).toContain(
      'managed-settings.json',
    )
    expect(off([managed, { allowManagedHooksOnly: true }])).toContain('allowManagedHooksOnly')
    expect(off([user, { allowManagedHooksOnly: true }])).toBeNull()
  })

  test('Copilot: project settings disable all hooks, user settings none of ours', () => {
    const off = (path: string, text = '{ "disableAllHooks": true }'): string | null =>
      own('copilot').switchedOff?.([{ path, text }], place) ?? null
    const steering = own('copilot').files('project', place)
    for (const name of ['.github/copilot', '.claude'].flatMap((directory) =>
      ['settings.json', 'settings.local.json'].map((file) => `/p/${directory}/${file}`),
    )) {
      expect(steering).toContain(name)
      expect(off(name)).toContain(name)
      expect(off(name, '{ "disableAllHooks": false }')).toBeNull()
    }
    for (const name of ['/h/.copilot/settings.json', '/h/.copilot/config.json']) {
      expect(steering).toContain(name)
      expect(off(name)).toBeNull()
    }
  })

  test('Codex: the feature is disabled in config.toml', () => {
    const off = (text: string): string | null =>
      own('codex').switchedOff?.([{ path: '/h/.codex/config.toml', text }], place) ?? null
    expect(off('[features]\nhooks = false\n')).toContain('/h/.codex/config.toml')
    expect(off('model = "x"\n[features]\na = 1\ncodex_hooks=false # no\n[other]\n')).not.toBeNull()
    expect(off('features.hooks = false\n')).not.toBeNull()
    expect(off('[features]\nhooks = true\n[other]\nhooks = false\n')).toBeNull()
  })
})

test('comments are kept where the agent accepts them and refused where it does not', () => {
  const text = '{\n  // mine\n  "ui": { "theme": "dark" } // yes\n}\n'
  const after = own('gemini').install(text, commandOf('gemini'))
  expect(after).toContain('// mine')
  expect(after).toContain('// yes')
  expect(own('gemini').uninstall(after)).toBe(text)
  expect(caught(() => own('claude-code').install(text, commandOf('claude-code')))).toMatchObject({
    code: 'INVALID_FILE',
    at: { line: 2, column: 3 },
  })
})

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
