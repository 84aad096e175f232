import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { makeFifo } from './lab.ts'

const corpus = resolve(import.meta.dirname, '../../corpus')

/** Where a file of the corpus goes in the project, by the folder it lies in. */
const places = {
  scenario: 'scenarios/case.yaml',
  config: 'gantry.yaml',
  'agent-script': 'agents/worker.yaml',
  'model-script': 'judge.yaml',
  rubric: 'rubric.yaml',
} as const

const whole = {
  'gantry.yaml': 'agents:\n  worker: { driver: scripted, script: agents/worker.yaml }\n',
  'agents/worker.yaml': 'name: worker\nturns: []\n',
  'judge.yaml': 'answers: [x]\n',
  'rubric.yaml': 'criteria:\n  - { id: a, weight: 1, description: x }\n',
  'fixtures/template/AGENTS.md': 'x\n',
  'scenarios/case.yaml': `name: corpus
description: d
target: { binary: sh }
template_folder: template
task: { prompt: p }
evaluation:
  gates: []
  judge: { enabled: true, rubric: rubric.yaml, pass_threshold: 0.5 }
`,
}

const command = ['test', 'scenarios/case.yaml', '--agent', 'worker', '--judge-model', 'scripted:judge.yaml']

function shown(project: TestProject, text: string): string {
  return text.replaceAll(`${project.dir}/`, '')
}

describe.each(Object.entries(places))('a malformed %s file', (kind, place) => {
  const folder = join(corpus, kind)
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

  test.each(names)('%s is refused with its place and what is wrong', async (name) => {
    using project = makeProject({ ...whole, [place]: readFileSync(join(folder, name), 'utf8') })
    const { code, stdout, stderr } = await gantry(project, command)
    expect(shown(project, stderr)).toBe(
      readFileSync(join(folder, name.replace(/yaml$/, 'error.txt')), 'utf8'),
    )
    expect(code).toBe(2)
    expect(stdout).toBe('')
  })

  test('each has its expected error beside it', () => {
    const stems = (ending: string): string[] =>
      readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .map((name) => basename(name, ending))
    expect(stems('.error.txt')).toEqual(stems('.yaml'))
  })
})

describe('all malformed scenarios at once', () => {
  test('are reported by one validation, each with its place', async () => {
    const folder = join(corpus, 'scenario')
    const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
    using project = makeProject({
      ...whole,
      'rubric.yaml': 'criteria: []\n',
      ...Object.fromEntries(
        names.map((name) => [`scenarios/${name}`, readFileSync(join(folder, name), 'utf8')]),
      ),
    })
    const { code, stdout, stderr } = await gantry(project, ['scenario', 'validate', '--json', 'scenarios/'])
    expect(stderr).toBe('')
    expect(code).toBe(2)
    const findings = JSON.parse(stdout) as { file: string; problem: string | null }[]
    // Files without any key of a scenario are not taken for one when a folder is named.
    const unlike = ['empty.yaml', 'only-a-comment.yaml', 'a-list.yaml', 'a-word.yaml']
    const expected = names.filter((name) => !unlike.includes(name)).map((name) => `scenarios/${name}`)
    expect(findings.map(({ file }) => file).sort()).toEqual([...expected, 'scenarios/case.yaml'].sort())
    for (const { file, problem } of findings) expect(problem, file).toMatch(/\.yaml:\d+:\d+: \S/)
  })
})

describe('a file that is hardly text', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['binary garbage', Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80, 0x90]), /case\.yaml is not UTF-8 text/],
    ['a NUL byte', 'name: "a\0b"\n', /case\.yaml:\d+:\d+: /],
    ['UTF-16', Buffer.from('\uFEFFname: x\n', 'utf16le'), /case\.yaml is not UTF-8 text/],
    ['17 MiB', `# ${'x'.repeat(17 * 1024 * 1024)}\n`, /case\.yaml is larger than 16 MiB/],
    ['a hundred thousand brackets', `name: ${'['.repeat(100_000)}\n`, /case\.yaml:\d+:\d+: /],
    ['thousands of duplicate keys', 'k: v\n'.repeat(2_000), /case\.yaml:2:1: duplicate key 'k'/],
    [
      'a billion laughs in JSON',
      `{"name": ${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
      /case\.yaml:\d+:\d+: /,
    ],
  ])('%s is refused in one readable message', async (_what, content, message) => {
    using project = makeProject(whole)
    writeFileSync(project.path(places.scenario), content)
    const { code, stderr } = await gantry(project, command)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('bug:')
    expect(stderr.length).toBeLessThan(20_000)
    expect(code).toBe(2)
  })

  test('a large but sound file is taken', async () => {
    using project = makeProject(whole)
    project.write({
      'scenarios/case.yaml': `${whole['scenarios/case.yaml']}tags:\n${'  - a tag of some length to fill the file with\n'.repeat(20_000)}`,
    })
    const { code, stdout } = await gantry(project, ['scenario', 'validate', 'scenarios/case.yaml'])
    expect(stdout).toMatch(/^ok {3}scenarios\/case\.yaml corpus/)
    expect(code).toBe(0)
  })

  test.each([
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['CRLF line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['no newline at its end', (text: string) => text.trimEnd()],
  ])('a sound file with %s is taken', async (_what, change) => {
    using project = makeProject({ ...whole, 'scenarios/case.yaml': change(whole['scenarios/case.yaml']) })
    expect(await gantry(project, ['scenario', 'validate', 'scenarios/case.yaml'])).toMatchObject({
      code: 0,
      stderr: '',
    })
  })

  test.each<[string, (path: string) => void, string]>([
    ['a directory', mkdirSync, 'is a directory, not a file'],
    ['a FIFO', makeFifo, 'is not a regular file'],
    ['a dangling link', (path) => symlinkSync('nowhere', path), 'does not exist'],
    ['a link to itself', (path) => symlinkSync(path, path), 'cannot be read: '],
  ])(
    '%s in the place of the configuration is reported without waiting for it',
    async (_what, make, message) => {
      using project = makeProject(whole)
      make(project.path('other.yaml'))
      const { code, stderr } = await gantry(project, ['test', '--config', 'other.yaml'])
      expect(stderr).toContain(`other.yaml ${message}`)
      expect(stderr).not.toContain('bug:')
      expect(code).toBe(2)
    },
  )
})
