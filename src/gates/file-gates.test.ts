import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gateTrial } from './gate-trial.conformance.ts'
import { gateSchema, runGate } from './index.ts'

describe('file_exists', () => {
  test('reports the kind of the entry', async () => {
    using trial = gateTrial()
    mkdirSync(join(trial.workspace, 'notes'))
    writeFileSync(join(trial.workspace, 'notes/a.md'), '')
    const check = (path: string) => trial.check({ type: 'file_exists', path })
    expect(await check('notes/a.md')).toMatchObject({ passed: true, detail: { kind: 'file' } })
    expect(await check('./notes')).toMatchObject({ passed: true, detail: { kind: 'directory' } })
    expect(await check('notes/b.md')).toMatchObject({
      passed: false,
      message: 'notes/b.md does not exist',
      detail: { kind: 'missing' },
    })
    expect(await check('notes/a.md/b')).toMatchObject({ passed: false })
  })

  test('with exists: false asks for absence', async () => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'a'), '')
    expect(await trial.check({ type: 'file_exists', path: 'a', exists: false })).toMatchObject({
      passed: false,
    })
    expect(await trial.check({ type: 'file_exists', path: 'b', exists: false })).toMatchObject({
      passed: true,
    })
  })

  test('a link inside the workspace counts, a dangling one does not', async () => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'real'), '')
    symlinkSync('real', join(trial.workspace, 'link'))
    symlinkSync('nowhere', join(trial.workspace, 'dangling'))
    expect(await trial.check({ type: 'file_exists', path: 'link' })).toMatchObject({ passed: true })
    expect(await trial.check({ type: 'file_exists', path: 'dangling' })).toMatchObject({ passed: false })
  })
})

const readers = [
  { type: 'file_contains', substring: 'milk' },
  { type: 'file_matches', pattern: 'm.lk' },
]

describe.each(readers)('$type', (gate) => {
  test('passes when the text is there, and shows the end of the file when it is not', async () => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'list'), 'bread\nmilk\n')
    writeFileSync(join(trial.workspace, 'other'), 'bread\nbutter\n')
    expect(await trial.check({ ...gate, path: 'list' })).toMatchObject({ passed: true })
    expect(await trial.check({ ...gate, path: 'other' })).toMatchObject({
      passed: false,
      message: expect.stringMatching(/^other does not/),
      detail: { path: 'other', file_tail: 'bread\nbutter\n' },
    })
  })

  test('fails with the reason for a file that cannot be read', async () => {
    using trial = gateTrial()
    mkdirSync(join(trial.workspace, 'folder'))
    execFileSync('sh', ['-c', 'mkfifo pipe'], { cwd: trial.workspace })
    const message = async (path: string) => (await trial.check({ ...gate, path })).message
    expect(await message('missing')).toContain('does not exist')
    expect(await message('folder')).toContain('a directory')
    expect(await message('pipe')).toContain('a FIFO')
  })

  test('searches a file of any size, also where two of its pieces meet', async () => {
    using trial = gateTrial()
    const filler = 'é'.repeat(2 * 1024 * 1024 - 1)
    writeFileSync(join(trial.workspace, 'huge'), `x${filler}milk${filler}`)
    expect(await trial.check({ ...gate, path: 'huge' })).toMatchObject({ passed: true })
    writeFileSync(join(trial.workspace, 'huge'), `x${filler}${filler}bread`)
    const missed = await trial.check({ ...gate, path: 'huge' })
    expect(missed).toMatchObject({ passed: false, message: expect.stringContaining('does not') })
    expect(missed.detail.file_tail).toMatch(/bread$/)
  })

  test('fails with the reason for a loop of links and for a file without permission', async () => {
    using trial = gateTrial()
    symlinkSync('loop', join(trial.workspace, 'loop'))
    expect((await trial.check({ ...gate, path: 'loop' })).message).toContain('loop')
    writeFileSync(join(trial.workspace, 'secret'), 'milk')
    chmodSync(join(trial.workspace, 'secret'), 0)
    // Root can read everything.
    const readable = process.getuid?.() === 0
    const result = await trial.check({ ...gate, path: 'secret' })
    expect(result.passed).toBe(readable)
    expect(result.message).toMatch(readable ? /contains|matches/ : /permission denied/)
  })

  test('handles bytes that are not text', async () => {
    using trial = gateTrial()
    writeFileSync(join(trial.workspace, 'binary'), Buffer.from([0, 255, 254, ...Buffer.from('milk'), 128]))
    expect(await trial.check({ ...gate, path: 'binary' })).toMatchObject({ passed: true })
  })
})

describe.each([{ type: 'file_exists' }, { type: 'file_exists', exists: false }, ...readers])(
  'staying inside the workspace: %j',
  (gate) => {
    test('never follows a link that leads out of it', async () => {
      using trial = gateTrial()
      using outside = gateTrial()
      writeFileSync(join(outside.workspace, 'file'), 'milk')
      symlinkSync(join(outside.workspace, 'file'), join(trial.workspace, 'link'))
      symlinkSync(outside.workspace, join(trial.workspace, 'folder'))
      for (const path of ['link', 'folder/file']) {
        const result = await trial.check({ ...gate, path })
        expect(result).toMatchObject({ passed: false, message: expect.stringContaining('leads to') })
        expect(JSON.stringify(result)).not.toContain('milk"')
      }
    })

    test.each(['../x', 'a/../../x', '/etc/passwd', 'C:\\x', '..\\x', 'a\0b', ''])(
      'refuses the path %j at load',
      (path) => {
        expect(gateSchema.safeParse({ ...gate, path }).success).toBe(false)
      },
    )

    test.each(['../x', '/etc/passwd'])(
      'fails for the path %j in a check, naming what is wrong',
      async (path) => {
        using trial = gateTrial()
        const spec = { exists: true, ...gate, path } as unknown as Parameters<typeof runGate>[0]
        const { result } = await runGate(spec, {
          workspace: trial.workspace,
          env: {},
          signal: new AbortController().signal,
          invocations: [],
          invocationSource: 'none',
          toolUses: [],
          delta: async () => ({ created: [], changed: [], deleted: [] }),
        })
        expect(result).toMatchObject({
          passed: false,
          message: expect.stringMatching(/leads out of|absolute path/),
        })
      },
    )
  },
)

test('a hard link is a file of the workspace like any other', async () => {
  using trial = gateTrial()
  writeFileSync(join(trial.workspace, 'a'), 'milk')
  linkSync(join(trial.workspace, 'a'), join(trial.workspace, 'b'))
  expect(await trial.check({ type: 'file_contains', path: 'b', substring: 'milk' })).toMatchObject({
    passed: true,
  })
})

test('a pattern that is invalid fails with the message of the parser', async () => {
  using trial = gateTrial()
  writeFileSync(join(trial.workspace, 'a'), 'x')
  await expect(async () => trial.check({ type: 'file_matches', path: 'a', pattern: '[' })).rejects.toThrow(
    'invalid',
  )
})
