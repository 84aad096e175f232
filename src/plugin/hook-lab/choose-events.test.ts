import { describe, expect, test } from 'vitest'
import type { HookComponent, HookHandler } from '../analyze/contract.ts'
import { chooseEvents, ruleExample, ruleFits } from './choose-events.ts'
import type { LabPlace } from './lab-place.ts'

const place: LabPlace = {
  workspace: '/w',
  home: '/h',
  tmp: '/t',
  pluginRoot: '/p',
  pluginData: '/d',
  transcript: '/h/s.jsonl',
  envFile: '/e',
}
const names = { plugin: 'demo', agents: ['demo:reviewer'], commands: [], toolPrefixes: [] }

function chosen(event: string, matcher: string | null, raw: HookHandler['raw'] = {}, attacks = false) {
  const handler: HookHandler = { type: 'command', action: '', raw }
  const group: HookComponent = {
    name: 'g',
    cli_name: 'g',
    plugin: 'demo',
    path: 'hooks/hooks.json',
    description: '',
    event,
    matcher,
    matching_tools: [],
    expected_behavior: 'unknown',
    handlers: [handler],
  }
  const { firing, silent } = chooseEvents(group, handler, { place, names, attacks })
  return {
    firing: firing.map(({ label }) => label),
    silent: silent.map(({ label }) => label),
    events: firing,
  }
}

describe('events for a handler', () => {
  test.each([
    ['PreToolUse', 'Write|Edit', ['Write a note', 'Edit a source']],
    ['PreToolUse', 'Task', ['Agent a review']],
    ['PreToolUse', 'mcp__memory__.*', ['mcp__memory__search']],
    ['PreToolUse', 'mcp__memory', ['mcp__memory']],
    ['PreToolUse', '^My(?:New)?Tool[a-z]+$', ['MyNewToolx']],
    ['SessionStart', 'compact', ['compact']],
    ['SessionStart', null, ['startup', 'resume', 'clear', 'compact', 'fork']],
    ['PreCompact', 'manual|auto', ['auto', 'manual']],
    ['SubagentStop', '^demo:reviewer$', ['demo:reviewer']],
    ['Notification', 'idle_prompt', ['idle_prompt']],
    ['FileChanged', '.env|.envrc', ['.env', '.envrc']],
    ['FileChanged', 'Makefile', ['Makefile']],
    ['Stop', 'ignored', ['first time', 'second time']],
    ['PreToolUse', '(', []],
    ['BeforeToolUse', null, []],
  ])('%s with %j', (event, matcher, labels) => {
    expect(chosen(event, matcher).firing).toEqual(labels)
  })

  test('include some that do not make it fire, unless all do', () => {
    expect(chosen('PreToolUse', 'Write').silent).toEqual(['Bash list files', 'Edit a source'])
    expect(chosen('SessionStart', 'compact').silent).toEqual(['startup', 'resume'])
    expect(chosen('PreToolUse', '*').silent).toEqual([])
  })

  test('cover many tools before repeating one', () => {
    const { events } = chosen('PreToolUse', '*', {}, true)
    const attacks = events.filter(({ intent }) => intent === 'attack').map(({ payload }) => payload.tool_name)
    expect(attacks.slice(0, 6)).toEqual(['Bash', 'Write', 'Edit', 'NotebookEdit', 'Read', 'WebFetch'])
    expect(attacks.length).toBe(16)
    expect(events.filter(({ intent }) => intent === 'benign').length).toBe(5)
  })

  test('follow the rule of its `if`', () => {
    expect(chosen('PreToolUse', 'Bash', { if: 'Bash(ls *)' }).firing).toEqual([
      'Bash list files',
      'by the rule Bash(ls *)',
    ])
    const { firing, silent } = chosen('PreToolUse', null, { if: 'Edit(*.tf)' })
    expect(firing).toEqual(['by the rule Edit(*.tf)'])
    expect(silent.length).toBe(2)
  })
})

const call = (tool_name: string, tool_input: object) => ({
  label: '',
  intent: 'benign' as const,
  event: 'PreToolUse',
  payload: { cwd: '/w', tool_name, tool_input },
})

test.each([
  ['Bash', 'ls', true],
  ['Bash(*)', 'ls', true],
  ['Bash(git *)', 'git push', true],
  ['Bash(git *)', 'ls && git push', true],
  ['Bash(git *)', 'github login', false],
  ['Bash(git:*)', 'git', true],
  ['Bash(git:*)', 'gitk', false],
  ['Bash(npm run test)', 'npm run test', true],
  ['Bash(npm run test)', 'npm run test -- x', false],
  ['Bash(rm -rf $HOME/(x)*)', 'rm -rf $HOME/(x)y', true],
  ['Write', 'ls', false],
])('%s and the command %s: %s', (rule, command, fits) => {
  expect(ruleFits(rule, call('Bash', { command }))).toBe(fits)
})

test.each([
  ['Edit(src/**)', 'Write', '/w/src/a.ts', true],
  ['Edit(src/**)', 'Edit', '/w/test/a.ts', false],
  ['Edit(/w/*.md)', 'Edit', '/w/a.md', true],
  ['Edit(*.env)', 'Edit', '/w/.env', true],
  ['Read(./src/**)', 'Read', '/w/src/a', true],
  ['Write(src/**)', 'Edit', '/w/src/a.ts', false],
])('%s and %s of %s: %s', (rule, tool, file_path, fits) => {
  expect(ruleFits(rule, call(tool, { file_path }))).toBe(fits)
})

test('a rule may match many tools, and unknown input matches', () => {
  expect(ruleFits('mcp__memory__*', call('mcp__memory__search', {}))).toBe(true)
  expect(ruleFits('WebFetch(domain:example.test)', call('WebFetch', { url: 'http://x.test' }))).toBe(true)
})

test.each([
  'Bash(git push *)',
  'Bash(npm:*)',
  'Edit(src/**)',
  'Read(/etc/*.conf)',
  'NotebookEdit(*.ipynb)',
  'Write',
])('the example made from %s matches it', (rule) => {
  const example = ruleExample(rule, '/w')
  expect(ruleFits(rule, call(example?.tool ?? '', example?.input ?? {}))).toBe(true)
})

test('a rule without a tool has no example', () => {
  expect(ruleExample('mcp__*', '/w')).toBeNull()
})
