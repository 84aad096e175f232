import { expect, test } from 'vitest'
import { root, worldOf } from './protection-corpus.conformance.ts'
import { toolInputTargets } from './tool-input-targets.ts'

function written(tool: string, input: unknown, files = {}): readonly string[] {
  const { writes } = toolInputTargets({ tool, input, cwd: root, world: worldOf({ files }) })
  return [...new Set(writes.map(({ path }) => path.replace(`${root}/`, '')))].toSorted()
}

test.each([
  ['the names of a list of files', 'save', { files: { 'a.ts': 'x', id_rsa: 'y' } }, ['a.ts', 'id_rsa']],
  ['the URIs of a workspace edit', 'apply', { changes: { [`file://${root}/a.ts`]: [] } }, ['a.ts']],
  ['an input within the input', 'write', { arguments: '{"path": "a.ts"}' }, ['a.ts']],
  [
    'the files of a patch',
    'apply_patch',
    { patch: '--- a/x.ts\n+++ b/x.ts\n' },
    ['a/x.ts', 'b/x.ts', 'x.ts'],
  ],
  ['where a result goes, even of a tool that reads', 'get', { url: 'x', saveAs: 'a.html' }, ['a.html']],
  ['where SQL copies to', 'query', { sql: "copy (select 1) to 'a.csv'" }, ['a.csv']],
  [
    'the writes of a program with a list of words',
    'start',
    { steps: [{ program: 'touch', args: ['a'] }] },
    ['a'],
  ],
  ['what is fed to a shell', 'exec', { command: 'sh', stdin: 'echo > a' }, ['a']],
  ['what a cell of a notebook writes', 'run_cell', { source: ['%%writefile a.md\n', 'text'] }, ['a.md']],
  [
    'the writes of a called tool',
    'call',
    { name: 'delete_file', arguments: { path: 'a' } },
    ['a', 'delete_file'],
  ],
  ['the values of a file tool that names no path', 'fs_rename', { old: 'a', new: 'b' }, ['a', 'b']],
  ['the parts of a path', 'write_file', { path: ['src', 'a.ts'] }, ['a.ts', 'src', 'src/a.ts']],
  ['a name in the directory that comes with it', 'write_file', { dir: 'src', name: 'a' }, ['a', 'src/a']],
])('%s', (_, tool, input, paths) => {
  expect(written(tool, input)).toEqual(paths)
})

test('a glob to delete is expanded', () => {
  expect(written('fs_delete', { glob: 'src/*.ts' })).toEqual(['src/*.ts', 'src/env.ts', 'src/index.ts'])
  expect(written('fs_delete_lines', { path: 'a.txt', pattern: '*' })).toEqual(['a.txt'])
})

test('content is not read as input, even if it looks like it', () => {
  expect(written('write_file', { path: 'a.json', content: '{"path": ".env"}' })).toEqual(['a.json'])
})

test('reading, naming and asking write nothing', () => {
  expect(written('read_file', { path: '.env' })).toEqual([])
  expect(written('create_project', { name: '.env' })).toEqual([])
  expect(written('call', { name: 'read_file', arguments: { path: '.env' } })).toEqual([])
})

test('an endless input or one with a thousand fields is bounded', () => {
  const deep: { path: string; next?: unknown } = { path: 'a' }
  deep.next = deep
  expect(written('write_file', deep)).toEqual(['a'])
  const wide = Array.from({ length: 10_000 }, (_, index) => ({ path: `f${index}` }))
  expect(written('write_file', { files: wide }).length).toBeLessThan(1000)
})
