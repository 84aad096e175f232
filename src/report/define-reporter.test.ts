import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { sampleRecords, sampleRun, textSink } from '../../test/support/sample-run.ts'
import { defineReporter, type ReporterDefinition } from './define-reporter.ts'
import { parseReporterSpec } from './index.ts'
import { openReporters } from './open-reporters.ts'

test.each([
  ['./slack.js', { name: './slack.js', own: './slack.js', path: null }],
  ['./slack.mjs:out/log.txt', { name: './slack.mjs', own: './slack.mjs', path: 'out/log.txt' }],
  ['/abs/dir.js/slack.ts', { name: '/abs/dir.js/slack.ts', own: '/abs/dir.js/slack.ts', path: null }],
  ['C:\\r\\slack.js:C:\\o.txt', { name: 'C:\\r\\slack.js', own: 'C:\\r\\slack.js', path: 'C:\\o.txt' }],
  ['json:report.js', { name: 'json', path: 'report.js' }],
])('%s is understood', (text, spec) => {
  expect(parseReporterSpec(text)).toEqual(spec)
})

test('a module with a colon but no path is refused', () => {
  expect(() => parseReporterSpec('./slack.js:')).toThrow('has a colon but no path')
})

const source = `export default {
  name: 'lines',
  open: ({ sink }) => ({
    runStarted: ({ trials }) => sink.write(trials + ' trials\\n'),
    trialEnded: async ({ verdict }) => sink.write(verdict + '\\n'),
    runEnded: ({ summary }) => sink.write('all: ' + summary.verdict + '\\n'),
  }),
}
`

test('a reporter of a module writes to standard output beside the console, or to a file', async () => {
  await using dir = await createFixture({ 'lines.mjs': source })
  const { text, reporters } = await open(dir.path, ['./lines.mjs:out.txt', './lines.mjs', 'console'])
  const run = sampleRun(sampleRecords.slice(0, 1))
  reporters.runStarted(run)
  for await (const record of run.records()) reporters.trialEnded(record)
  await reporters.runEnded(run)
  expect(reporters.problems()).toEqual([])
  expect(await dir.readFile('out.txt', 'utf8')).toMatch(/^1 trials\n\w+\nall: \w+\n$/)
  expect(text()).toContain('1 trials\n')
})

test('a reporter that is a class keeps its methods', async () => {
  await using dir = await createFixture({
    'class.mjs': `class Lines {
  constructor(sink) { this.sink = sink }
  runEnded() { this.sink.write('ended') }
}
export default { name: 'lines', open: ({ sink }) => new Lines(sink) }
`,
  })
  const { reporters } = await open(dir.path, ['./class.mjs:out.txt'])
  await reporters.runEnded(sampleRun([]))
  expect(await dir.readFile('out.txt', 'utf8')).toBe('ended')
})

test.each([
  ['./none.js', 'NOT_FOUND', 'the module ./none.js does not exist'],
  ['./empty.mjs', 'INVALID_FILE', 'the default export of ./empty.mjs is not a reporter: there is none'],
  ['./throws.mjs', 'INVALID_FILE', 'the module ./throws.mjs failed to load: Error: no'],
])('%s is refused before the run', async (name, code, message) => {
  await using dir = await createFixture({ 'empty.mjs': '', 'throws.mjs': 'throw new Error("no")\n' })
  await expect(open(dir.path, [name])).rejects.toMatchObject({ code, message, hint: expect.any(String) })
})

test.each<[string, ReporterDefinition['open']]>([
  ['throws', () => ({ trialEnded: () => fail() })],
  ['rejects', () => ({ trialEnded: async () => fail() })],
  ['throws at the end', () => ({ runEnded: () => fail() })],
])('a reporter that %s is named, and stops neither the run nor the others', async (_, opener) => {
  const broken = defineReporter({ name: 'broken', open: opener })
  const calls: string[] = []
  const good = defineReporter({ name: 'good', open: () => ({ runEnded: () => void calls.push('ended') }) })
  const { reporters } = await open('/', [], [broken, good])
  const run = sampleRun(sampleRecords)
  for await (const record of run.records()) reporters.trialEnded(record)
  await reporters.runEnded(run)
  expect(reporters.problems()).toEqual([
    {
      name: 'broken',
      error: expect.objectContaining({
        code: 'INVALID_FILE',
        message: "the reporter 'broken' threw Error: no luck",
      }),
    },
  ])
  expect(calls).toEqual(['ended'])
})

test('a reporter that never ends is an error after its limit', async () => {
  const endless = defineReporter({
    name: 'endless',
    timeoutMs: 20,
    open: () => ({ runEnded: () => new Promise(() => {}) }),
  })
  const { reporters } = await open('/', [], [endless])
  await reporters.runEnded(sampleRun(sampleRecords))
  expect(reporters.problems()).toMatchObject([
    { name: 'endless', error: { message: "the reporter 'endless' did not finish within 20ms" } },
  ])
})

function fail(): never {
  throw new Error('no luck')
}

async function open(cwd: string, names: readonly string[], own: readonly ReporterDefinition[] = []) {
  const { write, text } = textSink()
  const specs = [
    ...names.map(parseReporterSpec),
    ...own.map((definition) => ({ name: definition.name, path: null, own: definition })),
  ]
  const stdout = { write, isTTY: false, columns: 80, color: false }
  return { text, reporters: await openReporters(specs, { stdout, env: {}, cwd }) }
}
