import { expect, test } from 'vitest'
import { partsOf } from '../../../test/support/plugin-parts.ts'
import { skillOf } from '../../../test/support/plugin-trial.ts'
import type { Components } from '../analyze/contract.ts'
import type { Grader } from '../generate/contract.ts'
import { expectationOf } from './expectation.ts'

const used = (tool: string, input_match?: string, min = 1, max: number | null = null): Grader => ({
  name: `${tool} ${min}`,
  weight: 1,
  arm: 'default',
  type: 'tool_used',
  use: { tool, ...(input_match !== undefined && { input_match }) },
  min,
  max,
})
const traced = (pattern: string, match: 'contains' | 'not_contains'): Grader => ({
  name: 'traced',
  weight: 1,
  arm: 'default',
  type: 'regex',
  pattern,
  flags: '',
  match,
  target: 'trace',
})

const expected = (
  graders: readonly Grader[],
  { prompt = 'x', tags = [] as string[], parts = {} as Partial<Components> } = {},
) => {
  const { component, expected: fires } = expectationOf({ prompt, tags, graders }, partsOf('', parts))
  return component === null
    ? null
    : `${component.type}:${component.component.name} ${fires ? 'fires' : 'is quiet'}`
}

test.each([
  ['a skill by its full name', [used('Skill', '"skill":"demo:greet"')], 'skill:greet fires'],
  ['as people write it', [used('Skill', '"skill"\\s*:\\s*"(?:[\\w-]+:)?greet"')], 'skill:greet fires'],
  ['one that must not fire', [used('Skill', '"demo:greet"', 0, 0)], 'skill:greet is quiet'],
  [
    'a command started by the model',
    [used('Skill', '"demo:deploy:staging"')],
    'command:deploy/staging fires',
  ],
  [
    'the older tool for commands',
    [used('SlashCommand', '/demo:deploy:staging')],
    'command:deploy/staging fires',
  ],
  ['an agent', [used('Agent', '"subagent_type":"demo:reviewer"')], 'agent:reviewer fires'],
  ['the older tool for agents', [used('Task', 'reviewer"}$')], 'agent:reviewer fires'],
  ['a tool of a server', [used('mcp__plugin_demo_weather__forecast')], 'mcp_server:weather fires'],
  [
    'any tool of a server',
    [traced('"name":"mcp__plugin_demo_weather__', 'contains')],
    'mcp_server:weather fires',
  ],
  [
    'no tool of a server',
    [traced('"name":"mcp__plugin_demo_weather__', 'not_contains')],
    'mcp_server:weather is quiet',
  ],
])('%s', (_, graders, words) => {
  expect(expected(graders)).toBe(words)
})

test.each([
  ['any skill of several', [used('Skill')]],
  ['a word that fits several', [used('Skill', 'greet')]],
  ['a skill of nobody', [used('Skill', 'demo:gone')]],
  ['a plain tool', [used('Read')]],
  ['as often as it likes', [used('Skill', '"demo:greet"', 0, null)]],
  ['another pattern in the trace', [traced('"name":"Skill"', 'contains')]],
])('%s expects nothing', (_, graders) => {
  expect(expected(graders)).toBeNull()
})

test('a grader for any skill means the only skill of the plugin', () => {
  const parts = { skills: [skillOf('greet')], commands: [] }
  expect(expected([used('Skill')], { parts })).toBe('skill:greet fires')
})

test('a component that should fire takes precedence over one that should not, in any order', () => {
  const graders = [used('Skill', '"demo:greet"', 0, 0), used('Agent', 'reviewer')]
  expect(expected(graders)).toBe('agent:reviewer fires')
})

test('a typed command should fire, unless a grader expects another component', () => {
  const prompt = '/demo:deploy:staging now'
  expect(expected([used('Read')], { prompt })).toBe('command:deploy/staging fires')
  expect(expected([used('Skill', '"demo:greet"', 0, 0)], { prompt })).toBe('command:deploy/staging fires')
  expect(expected([used('Agent', 'reviewer')], { prompt })).toBe('agent:reviewer fires')
  expect(expected([used('Read')], { prompt: '/demo:nothing' })).toBeNull()
  expect(expected([used('Read')], { prompt: 'run /demo:deploy:staging' })).toBeNull()
})

test('a tag decides', () => {
  const tags = ['hook:PreToolUse::Write|Edit']
  expect(expected([used('Read')], { tags })).toBe('hook:PreToolUse::Write|Edit fires')
  expect(expected([used('Read')], { tags: [...tags, 'quiet'] })).toBe('hook:PreToolUse::Write|Edit is quiet')
  expect(expected([used('Skill', 'greet"', 0, 0)], { tags: ['skill:greet'] })).toBe('skill:greet is quiet')
  expect(expected([used('Read')], { tags: ['skill:gone', 'quiet'] })).toBeNull()
})
