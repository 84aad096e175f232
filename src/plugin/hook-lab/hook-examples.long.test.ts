import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildHook } from '../../../scripts/build-hook.ts'
import { hooksAnalysis, pluginWithHooks } from '../../../test/support/plugin-with-hooks.ts'
import { claudeCodeCodec } from '../../agents/claude-code/hooks.ts'
import { pluginFiles, writeGuardPlugin } from '../../guard-install/guard-plugin.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { tryHooks } from './try-hooks.ts'

const options = { env: process.env, maxTimeoutMs: 15_000 }

test('an example with an unexpected result fails and is a finding', async () => {
  const guard = 'grep -q secret && { echo "no secrets" >&2; exit 2; }; exit 0'
  await using plugin = await pluginWithHooks(
    { PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: guard }] }] },
    {
      evals: {
        hooks: {
          'a.yaml': `- { event: PreToolUse, input: { tool_name: Write, tool_input: { file_path: secret.txt, content: x } }, expect: deny, contains: no secrets }
- { event: PreToolUse, input: { tool_name: Write, tool_input: { file_path: a.txt, content: x } }, expect: deny }
- { event: PreToolUse, input: { tool_name: Read, tool_input: { file_path: secret.txt } }, expect: none }
- { event: Stop, expect: block }
`,
        },
      },
    },
  )
  const report = await tryHooks(plugin.analysis, { ...options, attacks: 'never' })
  expect(report.examples).toMatchObject([
    { source: 'evals/hooks/a.yaml#1', passed: true, decision: 'deny', fired: ['hook:PreToolUse::Write[0]'] },
    { source: 'evals/hooks/a.yaml#2', passed: false, message: 'expected deny, got none' },
    { source: 'evals/hooks/a.yaml#3', passed: true, fired: [] },
    { source: 'evals/hooks/a.yaml#4', passed: false, message: 'expected block, got none' },
  ])
  expect(report.summary).toMatchObject({ examples_passed: 2, examples_failed: 2 })
  expect(report.findings).toMatchObject([
    { code: 'HOOK_EXAMPLE_FAILED', message: expect.stringContaining('a.yaml#2: expected deny') },
  ])
})

test('the hooks of our example plugin pass its examples without findings', async () => {
  const report = await tryHooks(
    hooksAnalysis(join(import.meta.dirname, '../../../examples/plugin/hooks-only')),
    options,
  )
  expect(report.examples.filter(({ passed }) => !passed)).toEqual([])
  expect(report.examples.length).toBeGreaterThan(5)
  expect(report.findings.filter(({ severity }) => severity !== 'info')).toEqual([])
  const guard = report.groups.find(({ event }) => event === 'PreToolUse')
  expect(guard?.attacks.refused).toBeGreaterThan(0)
  expect(guard?.benign).toEqual({ tried: 3, passed: 3 })
})

describe('the plugin of Gantry Guard', () => {
  let dir: string
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gantry-guard-plugin-'))
    const hookBin = join(dir, 'hook-bin.js')
    await buildHook(hookBin)
    const plugin = join(dir, 'plugin')
    writeGuardPlugin(plugin, pluginFiles(claudeCodeCodec.events, { node: process.execPath, hookBin }), {
      dryRun: false,
    })
    writeFileAtomic(
      join(plugin, 'evals/hooks/guard.yaml'),
      `- { event: PreToolUse, input: { tool_name: Write, tool_input: { file_path: .env, content: x } }, expect: deny, contains: .env }
- { event: PreToolUse, input: { tool_name: Bash, tool_input: { command: "rm .env" } }, expect: deny }
- { event: PreToolUse, input: { tool_name: Read, tool_input: { file_path: README.md } }, expect: none }
- { event: SessionStart, input: { source: startup }, expect: context }
`,
    )
  }, 60_000)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('denies a write of a protected file, allows a read, and handles every event', async () => {
    const report = await tryHooks(hooksAnalysis(join(dir, 'plugin')), {
      ...options,
      attacks: 'always',
      variables: { GANTRY_GUARD_RESIDENT: 'off' },
    })
    const before = report.groups.find(({ event }) => event === 'PreToolUse')?.handlers[0]?.trials
    const decisionOf = (label: string) => before?.find((trial) => trial.label === label)?.decision
    expect(decisionOf('Write .env')).toBe('deny')
    expect(decisionOf('Read the readme')).toBe('none')
    expect(decisionOf('Write a note')).toBe('none')
    expect(report.examples.filter(({ passed }) => !passed)).toEqual([])
    expect(report.groups.length).toBe(claudeCodeCodec.events.length)
    expect(report.findings).toEqual([])
  }, 120_000)
})
