import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { analyzePlugin } from '../analyze-plugin.ts'
import type { HookComponent } from '../contract.ts'
import { hookBehavior, matchingTools } from './hook-components.ts'
import { hookEvents } from './hook-events.ts'

const run = (command: string) => [{ type: 'command', command }]

async function hooksOf(
  files: Readonly<Record<string, string>>,
  hooks?: unknown,
): Promise<readonly HookComponent[]> {
  await using fixture = await createFixture({
    '.claude-plugin/plugin.json': JSON.stringify({ name: 'demo', ...(hooks !== undefined && { hooks }) }),
    ...files,
  })
  const outcome = await analyzePlugin({ path: fixture.path, cwd: fixture.path })
  if (outcome.kind !== 'analysed') throw new Error('refused')
  return outcome.analysis.components.hooks
}

test('groups with and without a matcher are components, each with all its handlers', async () => {
  const text = JSON.stringify(
    {
      hooks: {
        PreToolUse: [
          {
            matcher: 'Write|Edit',
            hooks: [...run('deny.sh'), { type: 'prompt', prompt: 'ok?', timeout: 5 }],
          },
        ],
        Stop: [{ hooks: run('log it') }],
      },
    },
    null,
    1,
  )
  expect(await hooksOf({ 'hooks/hooks.json': text })).toEqual([
    {
      name: 'PreToolUse::Write|Edit',
      cli_name: 'PreToolUse:Write|Edit',
      plugin: 'demo',
      path: 'hooks/hooks.json',
      line: 4,
      description: 'PreToolUse: deny.sh; ok?',
      event: 'PreToolUse',
      matcher: 'Write|Edit',
      matching_tools: ['Write', 'Edit'],
      expected_behavior: 'block',
      handlers: [
        { type: 'command', action: 'deny.sh', raw: { type: 'command', command: 'deny.sh' } },
        {
          type: 'prompt',
          action: 'ok?',
          timeout_seconds: 5,
          raw: { type: 'prompt', prompt: 'ok?', timeout: 5 },
        },
      ],
    },
    {
      name: 'Stop',
      cli_name: 'Stop',
      plugin: 'demo',
      path: 'hooks/hooks.json',
      line: 20,
      description: 'Stop: log it',
      event: 'Stop',
      matcher: null,
      matching_tools: [],
      expected_behavior: 'log',
      handlers: [{ type: 'command', action: 'log it', raw: { type: 'command', command: 'log it' } }],
    },
  ])
})

test('every event that Claude Code knows makes a component, 33 of them', async () => {
  const events = Object.fromEntries([...hookEvents.keys()].map((event) => [event, [{ hooks: run('x') }]]))
  const found = await hooksOf({ 'hooks/hooks.json': JSON.stringify({ hooks: events }) })
  expect(found.map(({ event }) => event)).toEqual([...hookEvents.keys()])
  expect(found.length).toBe(33)
})

test('the default file, the manifest and the files it names are all read, in the order in which they run', async () => {
  const wrapped = (command: string) => JSON.stringify({ hooks: { Stop: [{ hooks: run(command) }] } })
  const found = await hooksOf({ 'hooks/hooks.json': wrapped('one'), 'more.json': wrapped('three') }, [
    './more.json',
    { Stop: [{ hooks: run('two') }] },
  ])
  expect(found.map(({ name, path, description }) => [name, path, description])).toEqual([
    ['Stop', 'hooks/hooks.json', 'Stop: one'],
    ['Stop#2', '.claude-plugin/plugin.json', 'Stop: two'],
    ['Stop#3', 'more.json', 'Stop: three'],
  ])
})

test('one unreadable handler does not affect the others of its group', async () => {
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'nope' }, ...run('x')] }] } })
  const [hook] = await hooksOf({ 'hooks/hooks.json': text })
  expect(hook?.handlers.map(({ action }) => action)).toEqual(['x'])
})

test('a description is cut at 200 characters', async () => {
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: run('x'.repeat(500)) }] } })
  const [hook] = await hooksOf({ 'hooks/hooks.json': text })
  expect(hook?.description.length).toBe(200)
})

test.each([
  [null, ['*']],
  ['*', ['*']],
  ['', ['*']],
  ['.*', ['*']],
  ['Write', ['Write']],
  ['Write, Edit', ['Write', 'Edit']],
  ['mcp__memory__read', ['mcp__memory__read']],
  ['^Notebook.*', ['NotebookEdit', 'NotebookRead']],
  ['mcp__memory__.*', ['mcp__memory__*']],
  ['^mcp__a__(b|c)$', []],
  ['[', []],
])('the matcher %j matches the tools %j', (matcher, tools) => {
  expect(matchingTools(matcher)).toEqual(tools)
})

test.each([
  ['node block-secrets.js', 'block'],
  ['./denied.sh and allow', 'block'],
  ['approve everything', 'allow'],
  ['update_index.py', 'modify'],
  ['audit_log.sh', 'log'],
  ['logging', 'log'],
  ['login.sh', 'unknown'],
  ['loadContext.js', 'context'],
  ['catalog', 'unknown'],
  ['', 'unknown'],
])('the words %j mean %s', (words, behavior) => {
  expect(hookBehavior(words)).toBe(behavior)
})
