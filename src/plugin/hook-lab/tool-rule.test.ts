import { expect, test } from 'vitest'
import { ruleExample, ruleFits } from './tool-rule.ts'

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
])('the example made from %s falls under it', (rule) => {
  const example = ruleExample(rule, '/w')
  expect(ruleFits(rule, call(example?.tool ?? '', example?.input ?? {}))).toBe(true)
})

test('a rule without a tool has no example', () => {
  expect(ruleExample('mcp__*', '/w')).toBeNull()
})
