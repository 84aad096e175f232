import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HookRegistration } from './hook-codec.ts'
import type { HookCommand } from './hook-installer.ts'
import { hookInstallerOf, installableAgents } from './hook-installers.ts'

const events: readonly HookRegistration[] = [
  { event: 'SessionStart', kind: 'session_start', timeoutSeconds: 10, mustBlock: false },
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*', timeoutSeconds: 10, mustBlock: true },
  { event: 'Stop', kind: 'stop', timeoutSeconds: 600, mustBlock: true },
]
const json = installableAgents.filter((agent) => agent !== 'opencode')

describe.each(json)('the installer of %s, in a file with other content', (agent) => {
  const installer = hookInstallerOf(agent, { events })
  const command: HookCommand = {
    program: '/opt/node 24/bin/node',
    args: ['/opt/it’s/hook-bin.js', '--agent', agent],
  }
  const handler = fc.oneof(
    fc.record({
      type: fc.constant('command'),
      command: fc.constantFrom('echo hi', 'node other.js --agent x'),
    }),
    fc.record({ bash: fc.constant('./check.sh'), timeoutSec: fc.nat(60) }),
    fc.jsonValue({ maxDepth: 1 }),
  )
  const entry = fc.oneof(
    handler,
    fc.record({ matcher: fc.constantFrom('*', 'Bash', ''), hooks: fc.array(handler) }),
  )
  const settings = fc.record(
    {
      hooks: fc.dictionary(
        fc.constantFrom('PreToolUse', 'Stop', 'Foreign', '__proto__'),
        fc.array(entry, { maxLength: 3 }),
      ),
      permissions: fc.jsonValue({ maxDepth: 2 }),
      $schema: fc.string(),
      version: fc.constant(1),
    },
    { requiredKeys: [] },
  )
  const text = fc
    .tuple(
      settings,
      fc.constantFrom(undefined, 2, 4, '\t'),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n'),
    )
    .map(([value, indent, eol, end]) => `${JSON.stringify(value, null, indent).replaceAll('\n', eol)}${end}`)

  test('keeps it all, appends ours, and finds it again', () => {
    fc.assert(
      fc.property(text, (before) => {
        const after = installer.install(before, command)
        expect(installer.inspect(after, command)).toEqual({ kind: 'installed' })
        const [old, now] = [JSON.parse(before), JSON.parse(after)]
        for (const key of Object.keys(old)) if (key !== 'hooks') expect(now[key]).toEqual(old[key])
        expect(Object.keys(now).filter((key) => key !== 'hooks')).toEqual(
          Object.keys(old).filter((key) => key !== 'hooks'),
        )
        for (const event of Object.keys(old.hooks ?? {}))
          expect(now.hooks[event].slice(0, old.hooks[event].length)).toEqual(old.hooks[event])
        expect(installer.install(after, command)).toBe(after)
      }),
    )
  })

  test('without a receipt the uninstall keeps the content of others, and removes ours', () => {
    fc.assert(
      fc.property(text, (before) => {
        const rest = installer.uninstall(installer.install(before, command))
        const left = rest === null ? {} : JSON.parse(rest)
        const old = JSON.parse(before)
        expect(rest ?? '').not.toContain('hook-bin')
        const kept = Object.entries(old.hooks ?? {}).filter(([, list]) => (list as unknown[]).length > 0)
        expect(Object.entries(left.hooks ?? {}).filter(([, list]) => (list as unknown[]).length > 0)).toEqual(
          kept,
        )
        if (rest !== null) expect(installer.uninstall(rest)).toBe(rest)
      }),
    )
  })
})
