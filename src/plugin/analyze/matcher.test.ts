import { expect, test } from 'vitest'
import { hookMatches, readMatcher } from './matcher.ts'

/** What Claude Code 2.1.325 did with each of these on a call of Write. */
const tried: readonly (readonly [string | undefined, boolean])[] = [
  [undefined, true],
  ['*', true],
  ['', true],
  ['Write', true],
  ['write', false],
  ['Writ', false],
  ['Write|Edit', true],
  ['Write,Edit', true],
  ['Edit, Write', true],
  ['Edit | Write', true],
  ['Write Edit', false],
  [' Write', true],
  ['Write ', true],
  ['.*', true],
  ['^Write$', true],
  ['W.*', true],
  ['rite.', false],
  ['(Write', false],
  ['[', false],
  ['Wri', false],
  ['Write-x', false],
  ['Edit|Writ', false],
  ['Writes?', true],
  ['^(?!Bash).*', true],
  ['*Write', false],
  ['Write*', true],
  ['Edit|Write*', true],
  ['|Write', true],
  ['Write|', true],
  ['Write||Edit', true],
  ['mcp__', false],
  ['Write\\b', true],
  ['Write_', false],
  ['/Write/', false],
  ['Write(*)', false],
  ['Write()', true],
  ['Edit,Write|Bash', true],
  ['!Bash', false],
  ['T.*|W.*', true],
  ['Nope|', false],
  ['|', false],
  [',', false],
]

test.each(tried)('the matcher %j on Write: %s, as the CLI does it', (matcher, expected) => {
  expect(hookMatches(matcher, 'Write')).toBe(expected)
})

test('a group without a matcher fires for everything', () => {
  expect(hookMatches(null, 'anything')).toBe(true)
})

test('the old and the new name of the subagent tool are equivalent', () => {
  for (const matcher of ['Task', 'Agent', '^Task$', 'Task.*', 'Agent|X', 'Task|X'])
    expect([matcher, hookMatches(matcher, 'Agent'), hookMatches(matcher, 'Task')]).toEqual([
      matcher,
      true,
      true,
    ])
})

test('a name with a colon is a pattern that may match a part', () => {
  expect(hookMatches('p:r', 'p:r')).toBe(true)
  expect(hookMatches('p:r', 'my-p:reviewer')).toBe(true)
  expect(hookMatches('^p:r$', 'my-p:reviewer')).toBe(false)
  expect(hookMatches('r', 'p:r')).toBe(false)
})

test('the name of a server alone matches no tool', () => {
  expect(hookMatches('mcp__memory', 'mcp__memory__read')).toBe(false)
  expect(hookMatches('mcp__memory__.*', 'mcp__memory__read')).toBe(true)
})

test('a pattern with many choices matches correctly', () => {
  const matcher = 'mcp__a__.*|mcp__b__.*|mcp__c__.*|mcp__d__.*|mcp__e__.*'
  expect(hookMatches(matcher, 'mcp__e__x')).toBe(true)
  expect(hookMatches(matcher, 'mcp__f__x')).toBe(false)
  expect(hookMatches('^(?!Bash|Read|Glob).*e.*t.*$', 'Write')).toBe(false)
  expect(hookMatches('^(?!Bash|Read|Glob).*i.*e.*$', 'Write')).toBe(true)
})

test('a pattern with catastrophic backtracking ends at once', () => {
  const name = `mcp__plugin_demo_weather__${'a'.repeat(200)}!`
  expect(hookMatches('^(\\w+)+$', name)).toBe(false)
  expect(hookMatches('^(a|a)*(?=b)$', name)).toBe(false)
  expect(hookMatches(`${'.*'.repeat(20)}%`, name)).toBe(false)
  expect(hookMatches(`(?=m)${'.*'.repeat(20)}%`, name)).toBe(false)
  expect(readMatcher('^(\\w+)+(?=x)$')).toMatchObject({ kind: 'broken' })
})
