import { cpSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runShell } from '../robustness/lab.ts'
import { type GantryResult, gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { client } from './lab.ts'

const long = `A long answer with \u001b[31mcolour\u001b[0m and 日本語 ${'and more of it '.repeat(20)}`
const model = {
  turns: [
    {
      text: 'First I write it.',
      calls: [{ tool: { name: 'save', input: { path: 'done.txt', content: 'done' } } }],
      usage: { input_tokens: 12_345, output_tokens: 67 },
    },
    { text: long },
  ],
}

const original = makeProject({ 'model.yaml': model })
beforeAll(async () => {
  const argv = client('please', 'write').join(' ')
  const made = await runShell(original, `$GANTRY boundary record --to tape --script model.yaml -- ${argv}`)
  if (made.code !== 0) throw new Error(made.stderr)
})
afterAll(() => original[Symbol.dispose]())

/** A cassette of two exchanges, made by a whole run of the program. */
function recorded(): TestProject {
  const project = makeProject({ 'model.yaml': model })
  cpSync(original.path('tape'), project.path('tape'), { recursive: true })
  return project
}

/** On a terminal of this many columns. */
function onTerminal(
  project: TestProject,
  columns: number,
  env: Record<string, string> = {},
): Promise<GantryResult> {
  const inside = `stty cols ${columns}; $GANTRY boundary inspect tape`
  return runShell(project, `script -qec '${inside}' /dev/null < /dev/null`, { TERM: 'xterm', ...env })
}

const widest = (text: string): number =>
  Math.max(...text.split('\n').map((line) => [...line.replaceAll(/\u001b\[[\d;]*m|\r/g, '')].length))

describe('gantry boundary inspect', () => {
  test('shows every exchange: what was asked, what came back, the tokens', async () => {
    using project = recorded()
    const { code, stdout, stderr } = await gantry(project, ['boundary', 'inspect', 'tape'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^2 exchanges, recorded \d{4}-\d\d-\d\dT.*Z by Gantry \d/)
    expect(stdout).toContain('client.mjs please write')
    expect(stdout).toContain('   1  anthropic  turn  claude-sonnet-5  200  12,345 in, 67 out')
    expect(stdout).toContain('> user: please write')
    expect(stdout).toContain('< First I write it.')
    expect(stdout).toContain('< save {"path":"done.txt","content":"done"}')
    expect(stdout).toContain('> user: result: written')
    expect(stdout).toContain('…')
    expect(stdout).not.toContain('\u001b')
  })

  test('shows one exchange whole, and where all of it is', async () => {
    using project = recorded()
    const { stdout } = await gantry(project, ['boundary', 'inspect', 'tape', '2'])
    expect(stdout).toContain('and more of it and more of it '.repeat(9).trimEnd())
    expect(stdout).toContain(project.path('tape/0002.json'))
    expect(stdout).not.toContain('\u001b')
    const first = await gantry(project, ['boundary', 'inspect', 'tape', '1'])
    expect(first.stdout).toContain('save {\n  "path": "done.txt"')
  })

  test('gives the same as JSON', async () => {
    using project = recorded()
    const { stdout } = await gantry(project, ['boundary', 'inspect', 'tape', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      complete: true,
      exchanges: [
        { index: 1, api: 'anthropic', toolCalls: [{ name: 'save' }], tokens: { input: 12_345 } },
        { index: 2, text: long },
      ],
    })
    const one = await gantry(project, ['boundary', 'inspect', 'tape', '2', '--json'])
    expect(JSON.parse(one.stdout)).toMatchObject({ index: 2, text: long })
  })

  test.each(['0', '3'])('has no exchange %s, and lists the existing ones', async (number) => {
    using project = recorded()
    const { code, stderr } = await gantry(project, ['boundary', 'inspect', 'tape', number])
    expect(code).toBe(2)
    expect(stderr).toContain(`no exchange ${number}`)
    expect(stderr).toContain('from 1 to 2')
  })

  test.each(['x', '-1', '1.5'])('rejects %s as a number', async (number) => {
    using project = makeProject()
    const { code, stderr } = await gantry(project, ['boundary', 'inspect', 'tape', '--', number])
    expect(code).toBe(2)
    expect(stderr).toContain('a whole number from 0 up')
  })

  test('of an empty cassette says so', async () => {
    using project = makeProject({ 'empty/.keep': '' })
    for (const dir of ['nowhere', 'empty']) {
      const { code, stderr } = await gantry(project, ['boundary', 'inspect', dir])
      expect(code).toBe(2)
      expect(stderr).toContain(project.path(dir))
    }
  })

  test('fits a narrow terminal, in colour unless NO_COLOR is set', async () => {
    using project = recorded()
    const narrow = await onTerminal(project, 40)
    expect(narrow.code).toBe(0)
    expect(narrow.stdout).toContain('\u001b[')
    const exchanges = narrow.stdout.slice(narrow.stdout.indexOf('\n'))
    expect(widest(exchanges)).toBeLessThanOrEqual(40)
    const plain = await onTerminal(project, 40, { NO_COLOR: '1' })
    expect(plain.stdout).not.toContain('\u001b[')
  })

  test('survives a reader that goes away', async () => {
    using project = recorded()
    const { code, stdout, stderr } = await runShell(
      project,
      '{ $GANTRY boundary inspect tape; echo $? >&2; } | head -n 1',
    )
    expect(code).toBe(0)
    expect(stdout.split('\n').length).toBe(2)
    expect(stderr).toBe('0\n')
  })
})
