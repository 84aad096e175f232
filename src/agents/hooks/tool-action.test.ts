import { expect, test } from 'vitest'
import { builtinToolCall } from '../builtin/hooks.ts'
import { patchedFiles, toolAction } from './tool-action.ts'

test('a call with two contradicting paths is judged by everything it names', () => {
  expect(toolAction('write', { file_path: 'ok.txt', path: '.env' }, null)).toEqual({
    kind: 'unknown',
    server: null,
  })
  expect(toolAction('write', { file_path: 'a', path: 'a', content: 'x' }, null)).toMatchObject({ path: 'a' })
})

test.each([
  ['write', {}],
  ['write', { file_path: 7 }],
  ['edit', { old_string: 'a' }],
  ['bash', {}],
  ['bash', { command: ['ls', 7] }],
  ['bash', { command: 'ls', cmd: 'rm -rf /' }],
  ['patch', {}],
] as const)('a %s with %j is unknown', (word, input) => {
  expect(toolAction(word, input, 's')).toEqual({ kind: 'unknown', server: 's' })
})

test('a command may be a list of words, or a script for a shell', () => {
  const commandOf = (command: unknown) => {
    const action = toolAction('bash', { command }, null)
    return action.kind === 'shell' ? action.command : null
  }
  expect(commandOf(['bash', '-lc', 'echo hi > a'])).toBe('echo hi > a')
  expect(commandOf(['/bin/sh', '-c', 'ls'])).toBe('ls')
  expect(commandOf(['rm', "it's", '$HOME'])).toBe(`'rm' 'it'\\''s' '$HOME'`)
})

test.each([
  [{ run_in_background: true }],
  [{ is_background: true }],
  [{ mode: 'async' }],
  [{ detach: true }],
])('%j is in the background', (more) => {
  expect(toolAction('bash', { command: 'x', ...more }, null)).toMatchObject({ background: true })
})

test('all edits of one call are found', () => {
  const edits = [{ old_string: 'a', new_string: 'b' }, { old_str: 'c' }, 'garbage', null]
  expect(toolAction('edit', { path: 'f', edits }, null)).toEqual({
    kind: 'edit',
    path: 'f',
    edits: [
      { old: 'a', new: 'b' },
      { old: 'c', new: '' },
    ],
  })
})

test('the tools of the builtin agent are known', () => {
  const kinds = ['run', 'write', 'edit', 'read', 'list', 'search', 'constructor', '__proto__'].map((tool) => {
    const input = { command: 'ls', path: 'a', content: 'x', old: 'p', new: 'q' }
    return builtinToolCall(tool, input).action.kind
  })
  expect(kinds).toEqual(['shell', 'write', 'edit', 'read', 'read', 'read', 'unknown', 'unknown'])
  expect(builtinToolCall('edit', { path: 'a', old: 'p', new: 'q', all: true }).action).toEqual({
    kind: 'edit',
    path: 'a',
    edits: [{ old: 'p', new: 'q' }],
  })
})

test('files are listed with their kind of change', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+hello',
    '*** Update File: src/a.ts',
    '*** Move to: src/b.ts',
    '@@ class A',
    ' context',
    '-old',
    '+new',
    '*** Delete File: gone.md',
    '*** End Patch',
  ].join('\n')
  expect(patchedFiles(patch)).toEqual([
    { path: 'new.txt', change: 'add' },
    { path: 'src/a.ts', change: 'update', to: 'src/b.ts' },
    { path: 'gone.md', change: 'delete' },
  ])
})

test('content lines name no file', () => {
  expect(patchedFiles('*** Add File: a\n+*** Delete File: b\n-*** Add File: c')).toEqual([
    { path: 'a', change: 'add' },
  ])
})

test.each([
  ['indented', '   *** Delete File: .env'],
  ['with CRLF', '*** Begin Patch\r\n*** Delete File: .env\r\n*** End Patch\r\n'],
  ['in a here-document', "<<'EOF'\n*** Begin Patch\n*** Delete File: .env\n*** End Patch\nEOF"],
  ['without a frame', '*** Delete File:   .env  '],
])('a header is found %s', (_, patch) => {
  expect(patchedFiles(patch)).toEqual([{ path: '.env', change: 'delete' }])
})

test('a move without a source, and a second move, still name their targets', () => {
  expect(patchedFiles('*** Move to: .env')).toEqual([{ path: '.env', change: 'add' }])
  expect(patchedFiles('*** Update File: a\n*** Move to: b\n*** Move to: .env')).toEqual([
    { path: 'a', change: 'update', to: 'b' },
    { path: '.env', change: 'add' },
  ])
})
