import { expect, test } from 'vitest'
import { claudeCodeHooks } from './hook-config.ts'

const installer = claudeCodeHooks([
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*', timeoutSeconds: 10, mustBlock: true },
])
const hook = { program: '/guard/bin/x/gantry-hook.cjs', args: [] }
const prefix = '/guard/bin/shell-1/gantry-shell'
const kernel = { ...hook, shellPrefix: prefix }

test('the layer of commands is added to the variables of the settings, and removed with the hooks', () => {
  const before = '{\n  "env": {\n    "A": "1"\n  },\n  "model": "opus"\n}\n'
  const after = installer.install(before, kernel)
  expect(JSON.parse(after).env).toEqual({
    A: '1',
    CLAUDE_CODE_SHELL_PREFIX: prefix,
    HARNESS_ENFORCEMENT: 'kernel',
  })
  expect(installer.shellPrefix?.(after)).toBe(prefix)
  expect(installer.uninstall(after)).toBe(before)
  expect(installer.uninstall(installer.install(null, kernel))).toBeNull()
})

test('an install that does not mention the layer keeps it, and one that refuses it removes it', () => {
  const after = installer.install(null, kernel)
  expect(installer.install(after, hook)).toBe(after)
  expect(installer.install(after, kernel)).toBe(after)
  expect(JSON.parse(installer.install(after, { ...hook, shellPrefix: null })).env).toBeUndefined()
  expect(installer.install(after, { ...hook, shellPrefix: '/guard/bin/shell-2/gantry-shell' })).toContain(
    'shell-2',
  )
})

test("a person's own prefix is kept, and the layer is not installed over it", () => {
  const own = '{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/usr/bin/env"}}\n'
  expect(() => installer.install(own, kernel)).toThrow(
    'CLAUDE_CODE_SHELL_PREFIX is set to /usr/bin/env already',
  )
  expect(JSON.parse(installer.install(own, hook)).env).toEqual({ CLAUDE_CODE_SHELL_PREFIX: '/usr/bin/env' })
  expect(JSON.parse(installer.uninstall(installer.install(own, hook)) ?? '')).toEqual(JSON.parse(own))
})

test('hooks with another layer than wanted are outdated', () => {
  const plain = installer.install(null, hook)
  expect(installer.inspect(plain, hook).kind).toBe('installed')
  expect(installer.inspect(plain, kernel).kind).toBe('outdated')
  expect(installer.inspect(installer.install(plain, kernel), kernel).kind).toBe('installed')
})

test('with the layer a hook does not run through it, and without it one line is all of the hook', () => {
  const onlyHere = { ...hook, onlyIf: ['/guard'] }
  const startOf = (text: string) => JSON.parse(text).hooks.PreToolUse[0].hooks[0]
  const layered = installer.install(null, { ...onlyHere, shellPrefix: prefix })
  expect(startOf(layered)).toMatchObject({ command: hook.program, args: ['PreToolUse'] })
  expect(installer.inspect(layered, onlyHere).kind).toBe('installed')
  const plain = startOf(installer.install(layered, { ...onlyHere, shellPrefix: null }))
  expect(plain.command).toBe(`[ -e /guard ] || exit 0; exec ${hook.program} PreToolUse`)
  expect(plain.args).toBeUndefined()
})
