import { spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Analysis } from '../../../src/plugin/analyze/contract.ts'
import { type GantryResult, gantry } from '../support/gantry.ts'
import { makeProject } from '../support/project.ts'
import { kitchen } from './kitchen.ts'

const examples = join(import.meta.dirname, '../../../examples/plugin')

type Analyzed = Analysis & GantryResult

async function analyzed(path: string): Promise<Analyzed> {
  using project = makeProject()
  const result = await gantry(project, ['plugin', 'analyze', path, '--json'])
  if (result.stdout === '') throw new Error(result.stderr)
  return { ...(JSON.parse(result.stdout) as Analysis), ...result }
}

describe('gantry plugin analyze', () => {
  test('finds all of release-notes, by the names of its author and of the CLI, and nothing wrong', async () => {
    const { components, findings, preflight, code } = await analyzed(join(examples, 'release-notes'))
    const { skills, agents, commands, hooks, mcp_servers } = components
    expect(skills.map(({ name, cli_name }) => [name, cli_name])).toEqual([
      ['next-version', 'release-notes:next-version'],
      ['write-release-notes', 'release-notes:write-release-notes'],
    ])
    expect(skills[1]?.triggers).toEqual([
      'write release notes',
      'draft the release notes',
      'announce the new version',
      'what has changed since',
    ])
    expect(agents.map(({ cli_name }) => cli_name)).toEqual(['release-notes:release-reviewer'])
    expect(agents[0]?.examples.map(({ user_message }) => user_message)).toEqual([
      'The notes for 2.0 are in NOTES.md. Can I publish them?',
      'Check that the changelog leaves out nothing that breaks.',
    ])
    const facts = commands.map((command) => [
      command.name,
      command.invocation,
      command.argument_hint,
      command.disable_model_invocation,
    ])
    expect(facts).toEqual([
      ['changelog/check', '/release-notes:changelog:check', '[file]', false],
      ['draft', '/release-notes:draft', '<from-tag> [to-tag]', false],
      ['tag', '/release-notes:tag', '<version>', true],
    ])
    expect(hooks.map(({ name, event, matcher }) => [name, event, matcher])).toEqual([
      ['SessionStart', 'SessionStart', null],
      ['PostToolUse::Write|Edit', 'PostToolUse', 'Write|Edit'],
    ])
    expect(mcp_servers).toEqual([])
    expect([findings, preflight.errors]).toEqual([[], []])
    expect(code).toBe(0)
  })

  test('names every pair of overlapping that says the same of itself', async () => {
    const { findings } = await analyzed(join(examples, 'overlapping'))
    const pairs = findings.filter(({ code }) => code === 'OVERLAPPING_DESCRIPTIONS')
    expect(pairs.map(({ components }) => components.toSorted().join(' ')).toSorted()).toEqual([
      'command:summarize skill:condense-text',
      'command:summarize skill:summarize-document',
      'skill:condense-text skill:summarize-document',
    ])
  })

  test('finds hooks without a matcher, and the server with the names its tools will have', async () => {
    const { components } = await analyzed(join(examples, 'hooks-only'))
    expect(components.hooks.map(({ name }) => name).toSorted()).toEqual([
      'PreToolUse::Write|Edit|NotebookEdit',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'UserPromptSubmit',
    ])
    const weather = await analyzed(join(examples, 'weather'))
    expect(weather.components.mcp_servers).toMatchObject([
      {
        name: 'almanac',
        cli_name: 'plugin:weather:almanac',
        tool_prefix: 'mcp__plugin_weather_almanac__',
        server_type: 'stdio',
        auth_required: false,
      },
    ])
  })

  test.each([
    ['manifest-not-json', 2, 'MANIFEST_PARSE_ERROR'],
    ['manifest-of-wrong-types', 2, 'MANIFEST_INVALID'],
    ['frontmatter-not-yaml', 1, 'FRONTMATTER_INVALID'],
    ['hooks-without-wrapper', 1, 'HOOK_INVALID'],
    ['unknown-event', 1, 'HOOK_EVENT_UNKNOWN'],
    ['hook-command-missing', 1, 'HOOK_INVALID'],
    // Nothing of these two is wrong on the disk.
    ['mcp-never-answers', 0, null],
    ['mcp-crashes', 0, null],
  ])('says of %s with exit code %i: %s', async (name, code, wanted) => {
    const output = await analyzed(join(examples, 'broken', name))
    const errors = [
      ...output.preflight.errors,
      ...output.findings.filter(({ severity }) => severity === 'error'),
    ]
    expect(errors.map((error) => error.code)).toEqual(wanted === null ? [] : [wanted])
    for (const { suggestion } of errors) expect(suggestion).not.toBe('')
    expect(output.code).toBe(code)
  })

  test('follows no link out of a plugin', async () => {
    using project = makeProject({
      ...kitchen('plugin'),
      'elsewhere/SKILL.md': '---\nname: stolen\ndescription: Lies somewhere else.\n---\n',
    })
    symlinkSync(project.path('elsewhere'), project.path('plugin/skills/stolen'))
    const { components, findings, stdout } = await analyzed(project.path('plugin'))
    expect(components.skills.map(({ name }) => name).toSorted()).toEqual(['bake-bread', 'brew-tea'])
    expect(findings.map(({ code, path }) => [code, path])).toContainEqual(['LINK_OUTSIDE', 'skills/stolen'])
    expect(stdout).not.toContain('Lies somewhere else')
  })
})

test('the hooks of hooks-only answer as their examples say', async () => {
  using project = makeProject()
  const argv = ['plugin', 'hooks', join(examples, 'hooks-only'), '--json']
  const { code, stdout } = await gantry(project, argv)
  const { summary, findings } = JSON.parse(stdout) as {
    readonly summary: Readonly<Record<string, number>>
    readonly findings: readonly unknown[]
  }
  expect(summary).toMatchObject({ groups: 5, tried_handlers: 5, examples_passed: 9, examples_failed: 0 })
  expect(findings).toEqual([])
  expect(code).toBe(0)
})

test('the almanac speaks MCP: what it knows, what it does not, and what is no message', async () => {
  const answers = await asked([
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'forecast', arguments: { city: 'oslo' } } },
    { id: 4, method: 'tools/call', params: { name: 'forecast', arguments: { city: 'Tycho' } } },
    { id: 5, method: 'tools/call', params: { name: 'tide' } },
    { id: 6, method: 'tools/burn' },
    'no JSON',
  ])
  expect(answers).toMatchObject([
    { id: 1, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'almanac' } } },
    { id: 2, result: { tools: [{ name: 'forecast' }, { name: 'cities' }] } },
    { id: 3, result: { content: [{ text: 'oslo: light snow, -4 to 1 °C, wind 12 km/h.' }] } },
    { id: 4, result: { isError: true } },
    { id: 5, error: { code: -32602 } },
    { id: 6, error: { code: -32601 } },
    { id: null, error: { code: -32700 } },
  ])
})

function asked(messages: readonly (object | string)[]): Promise<readonly unknown[]> {
  const child = spawn(process.execPath, [join(examples, 'weather/server/almanac.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const lines = messages.map((message) =>
    typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }),
  )
  child.stdin.end(`${lines.join('\n')}\n`)
  return new Promise((settle, fail) => {
    child.on('error', fail)
    child.on('close', () =>
      settle(
        output
          .trimEnd()
          .split('\n')
          .map((line): unknown => JSON.parse(line)),
      ),
    )
  })
}
