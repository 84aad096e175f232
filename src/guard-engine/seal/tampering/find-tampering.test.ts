import { expect, test } from 'vitest'
import { madeUpWorld } from '../../../../test/support/made-up-world.ts'
import { findTampering } from './find-tampering.ts'

const root = '/home/dev/project'
const world = madeUpWorld({ files: {} }, { home: '/home/dev', own: [] })
const edits = () => ({ files: {}, byAgent: {} })

function judged(tool: string, input: unknown, server: string | null = null): string | null {
  const call = { id: 't1', tool, action: { kind: 'unknown', server } as const, input }
  return findTampering(call, { agent: 'claude-code', cwd: root, root, world, edits })
}

test.each([
  ['Bash', 'rm -rf x'],
  ['Bash', null],
  ['bash', { command: 5 }],
  ['run_shell_command', { command: { text: 'ls' } }],
  ['Write', { content: 'x' }],
  ['Edit', ['a.txt']],
  ['Write', undefined],
])('a call of %s with the input %j is refused, because it cannot be read', (tool, input) => {
  expect(judged(tool, input)).toContain('cannot be read')
})

test('a file tool with an unusual key for its file is judged by that key', () => {
  expect(judged('Write', { target_path: 'src/a.ts', body: 'x' })).toBeNull()
})

test('an MCP tool or an unknown tool may have any input', () => {
  expect(judged('Bash', null, 'files')).toBeNull()
  expect(judged('TodoWrite', { todos: [] })).toBeNull()
})
