import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createFixture, type FsFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import type { ToolResult } from '../../../models/contract.ts'
import { createTools } from './index.ts'

describe.concurrent('read', () => {
  test('shows lines with their numbers, and how to continue', async () => {
    await using files = await createFixture({ 'a.txt': 'one\ntwo\r\nthree\n' })
    expect((await use(files, 'read', { path: 'a.txt' })).output).toBe(
      '     1\tone\n     2\ttwo\n     3\tthree',
    )
    expect((await use(files, 'read', { path: 'a.txt', offset: 2, limit: 1 })).output).toBe(
      '     2\ttwo\n[1 more lines: go on with offset 3]',
    )
  })

  test('limits the number of lines, the length of a line, and the total size', async () => {
    await using files = await createFixture({
      'many.txt': 'x\n'.repeat(5_000),
      'long.txt': 'y'.repeat(50_000),
      'both.txt': `${'z'.repeat(1_999)}\n`.repeat(100),
    })
    const many = (await use(files, 'read', { path: 'many.txt' })).output
    expect(many).toContain('[3000 more lines: go on with offset 2001]')
    expect((await use(files, 'read', { path: 'long.txt' })).output.length).toBeLessThan(2_100)
    const both = (await use(files, 'read', { path: 'both.txt' })).output
    expect(both.length).toBeLessThan(101_000)
    expect(both).toMatch(/more lines: go on with offset \d+\]$/)
  })

  test.each<[string, RegExp, object?]>([
    ['none.txt', /does not exist/],
    ['dir', /a directory/],
    ['binary', /binary/],
    ['../secret', /not in the workspace/],
    ['/etc/passwd', /not in the workspace/],
    ['link', /not in the workspace/],
    ['a.txt', /only 1 lines/, { offset: 5 }],
  ])('%s is refused', async (path, reason, rest = {}) => {
    await using files = await createFixture({ 'dir/x': '', binary: 'a\0b', 'a.txt': 'a' })
    symlinkSync('/etc/passwd', files.getPath('link'))
    expect(await use(files, 'read', { path, ...rest })).toEqual({
      isError: true,
      output: expect.stringMatching(reason),
    })
  })

  test('accepts an absolute path in the workspace', async () => {
    await using files = await createFixture({ 'a.txt': 'one' })
    expect((await use(files, 'read', { path: files.getPath('a.txt') })).output).toContain('one')
  })
})

describe.concurrent('list', () => {
  test('lists the entries of a directory, or all files below it that git does not ignore', async () => {
    await using files = await repository({
      '.gitignore': 'out/\n',
      'src/a.ts': '',
      'src/deep/b.ts': '',
      'out/c.js': '',
    })
    expect((await use(files, 'list', {})).output.split('\n')).toEqual(['.git/', '.gitignore', 'out/', 'src/'])
    expect((await use(files, 'list', { path: 'src', recursive: true })).output.split('\n')).toEqual([
      'src/a.ts',
      'src/deep/b.ts',
    ])
    expect((await use(files, 'list', { recursive: true })).output.split('\n')).toEqual([
      '.gitignore',
      'src/a.ts',
      'src/deep/b.ts',
    ])
  })

  test('refuses paths that are outside, missing or not a directory', async () => {
    await using files = await createFixture({ 'a.txt': '' })
    for (const [path, reason] of [
      ['..', /not in the workspace/],
      ['none', /does not exist/],
      ['a.txt', /not a directory/],
    ] as const)
      expect(await use(files, 'list', { path })).toEqual({
        isError: true,
        output: expect.stringMatching(reason),
      })
  })
})

describe.concurrent('search', () => {
  const tree = {
    '.gitignore': 'out/\n',
    'src/a.ts': 'const needle = 1\nnothing\n  Needle()\n',
    'docs/a.md': 'a needle\n',
    'out/a.js': 'needle\n',
    binary: 'needle\0',
  }

  test('finds lines in files that git does not ignore', async () => {
    await using files = await repository(tree)
    expect((await use(files, 'search', { pattern: '(?i)^\\s*needle|= 1$' })).output).toBe(
      'src/a.ts:1: const needle = 1\nsrc/a.ts:3:   Needle()',
    )
    expect((await use(files, 'search', { pattern: 'needle', glob: '*.md' })).output).toBe(
      'docs/a.md:1: a needle',
    )
    expect((await use(files, 'search', { pattern: 'needle', path: 'src' })).output).toBe(
      'src/a.ts:1: const needle = 1',
    )
    expect((await use(files, 'search', { pattern: 'needle', path: 'src/a.ts' })).output).toContain(':1:')
    expect((await use(files, 'search', { pattern: 'hay' })).output).toBe('No match.')
  })

  test('works without git, and in a workspace that another repository ignores', async () => {
    await using plain = await createFixture({ ...tree, 'node_modules/x/i.js': 'needle' })
    expect((await use(plain, 'search', { pattern: 'needle' })).output).toContain('out/a.js:1')
    expect((await use(plain, 'search', { pattern: 'needle' })).output).not.toContain('node_modules')
    await using outer = await repository({ '.gitignore': 'runs/\n', 'runs/ws/a.txt': 'needle' })
    const answer = await useIn(outer.getPath('runs/ws'), 'search', { pattern: 'needle' })
    expect(answer.output).toBe('a.txt:1: needle')
  })

  test('is limited, and fast on a pathological pattern', async () => {
    await using files = await createFixture({
      'many.txt': 'needle\n'.repeat(1_000),
      'a.txt': 'a'.repeat(5_000),
    })
    const { output } = await use(files, 'search', { pattern: 'needle' })
    expect(output.split('\n').length).toBe(201)
    expect(output).toMatch(/narrow the search\]$/)
    expect((await use(files, 'search', { pattern: '(a+)+$b' })).output).toBe('No match.')
  })

  test('does not follow a symlink out of the workspace', async () => {
    await using outside = await createFixture({ secret: 'needle' })
    await using files = await createFixture({ 'a.txt': '' })
    symlinkSync(outside.getPath('secret'), files.getPath('link'))
    symlinkSync(outside.path, files.getPath('dir'))
    expect((await use(files, 'search', { pattern: 'needle' })).output).toBe('No match.')
  })

  test.each([
    [{ pattern: '(' }, /The pattern is wrong/],
    [{ pattern: '(?=a)' }, /linear time/],
    [{ pattern: 'a', path: '../..' }, /not in the workspace/],
    [{ pattern: 'a', path: 'none' }, /does not exist/],
  ])('%j is refused', async (input, reason) => {
    await using files = await createFixture({})
    expect(await use(files, 'search', input)).toEqual({
      isError: true,
      output: expect.stringMatching(reason),
    })
  })
})

describe.concurrent('write and edit', () => {
  test('a file is created with its directories, and replaced', async () => {
    await using files = await createFixture({})
    expect(await use(files, 'write', { path: 'a/b.txt', content: 'ünï\n' })).toEqual({
      output: 'Wrote 6 bytes to a/b.txt.',
    })
    await use(files, 'write', { path: 'a/b.txt', content: 'x' })
    expect(await files.readFile('a/b.txt', 'utf8')).toBe('x')
  })

  test('nothing is written outside the workspace', async () => {
    await using outside = await createFixture({ kept: 'kept' })
    await using files = await createFixture({})
    symlinkSync(outside.getPath('kept'), files.getPath('link'))
    symlinkSync(outside.path, files.getPath('dir'))
    for (const path of ['../x', '/tmp/gantry-x', 'link', 'dir/kept', 'dir/new']) {
      expect(await use(files, 'write', { path, content: 'y' })).toMatchObject({ isError: true })
      expect(await use(files, 'edit', { path, old: 'kept', new: 'y' })).toMatchObject({ isError: true })
    }
    expect(await outside.readFile('kept', 'utf8')).toBe('kept')
    expect(await outside.exists('new')).toBe(false)
  })

  test('an edit needs exactly one match, or all', async () => {
    await using files = await createFixture({ 'a.txt': 'one two\none $& three\n' })
    const edit = (old: string, rest: object = {}) =>
      use(files, 'edit', { path: 'a.txt', old, new: '$1', ...rest })
    expect(await edit('one')).toMatchObject({ isError: true, output: expect.stringContaining('2 times') })
    expect(await edit('four')).toMatchObject({ isError: true, output: expect.stringContaining('not in') })
    expect(await edit('two one')).toMatchObject({ output: expect.stringContaining('white space') })
    expect(await edit('$&')).toEqual({ output: 'Edited a.txt.' })
    expect(await edit('one', { all: true })).toEqual({ output: 'Edited a.txt at 2 places.' })
    expect(await files.readFile('a.txt', 'utf8')).toBe('$1 two\n$1 $1 three\n')
  })

  test('an edit of lines that end in CRLF gets a hint', async () => {
    await using files = await createFixture({ 'a.txt': 'one\r\ntwo\r\n' })
    expect(await use(files, 'edit', { path: 'a.txt', old: 'one\ntwo', new: '' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('CRLF'),
    })
  })
})

describe.concurrent('run', () => {
  test('returns the output of both streams and the exit code, in the workspace and with only the given environment', async () => {
    await using files = await createFixture({ 'here.txt': '' })
    expect(await use(files, 'run', { command: 'ls; echo "$GIVEN:$HOME" >&2; exit 3' })).toEqual({
      output: 'here.txt\nyes:\n[exit code 3]',
      isError: true,
      exitCode: 3,
    })
    expect(await use(files, 'run', { command: 'printf ok' })).toEqual({
      output: 'ok',
      isError: false,
      exitCode: 0,
    })
  })

  test('a command that times out is stopped with its child processes', async () => {
    await using files = await createFixture({})
    const answer = await use(files, 'run', { command: 'sleep 300 & echo begun; wait', timeout_secs: 1 })
    expect(answer).toEqual({ output: 'begun\n[stopped after 1 seconds]', isError: true })
  })

  test('a long output keeps its beginning and its end', async () => {
    await using files = await createFixture({})
    const { output } = await use(files, 'run', { command: 'echo first; seq 100000; echo last' })
    expect(output.length).toBeLessThan(34_000)
    expect(output).toMatch(/^first\n1\n/)
    expect(output).toMatch(/bytes cut/)
    expect(output).toMatch(/last\n$/)
  })

  test('it ends when the agent is stopped', async () => {
    await using files = await createFixture({})
    const stop = new AbortController()
    const running = useIn(files.path, 'run', { command: 'echo begun; sleep 300' }, stop.signal)
    setTimeout(() => stop.abort(), 100)
    expect((await running).output).toMatch(/\[stopped\]$/)
  })
})

async function repository(tree: Record<string, string>): Promise<FsFixture> {
  const files = await createFixture(tree)
  execFileSync('git', ['init', '-q'], { cwd: files.path })
  return files
}

function use(files: FsFixture, name: string, input: object): Promise<ToolResult> {
  return useIn(files.path, name, input)
}

async function useIn(
  workspace: string,
  name: string,
  input: object,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolResult> {
  const env = { PATH: process.env.PATH ?? '', GIVEN: 'yes' }
  const tool = createTools({ workspace: workspace.replace(/\/$/, ''), env }).find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool.run(tool.input.parse(input), { id: 'call_1', signal })
}
