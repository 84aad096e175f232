import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { sampleRecord, sampleRecords, sampleRun, textSink } from '../../test/support/sample-run.ts'
import type { FinishedRun } from './contract.ts'
import { githubReporter } from './github.ts'
import { escapeXml, junitReporter, xmlAttributes } from './junit.ts'
import { tapReporter } from './tap.ts'

const late = { id: 'late-1', case: 'late', agent: 'codex', model: 'default', attempt: 1 }

async function junit(run: FinishedRun): Promise<string> {
  const sink = textSink()
  await junitReporter({ sink, color: false, columns: 80, live: false }).runEnded?.(run)
  expect(XMLValidator.validate(sink.text())).toBe(true)
  return sink.text()
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => ['testsuite', 'testcase', 'property'].includes(name),
})

test('a failure within the threshold of the run is no failure', async () => {
  const records = [
    sampleRecord({ attempt: 1, warnings: ['post script 1 failed'] }),
    sampleRecord({ attempt: 2, verdict: 'fail', reason: 'the file is missing' }),
  ]
  const xml = await junit(sampleRun(records, { threshold: 0.5 }))
  expect(xml).not.toContain('<failure')
  expect(parser.parse(xml).testsuites).toMatchObject({ tests: '2', failures: '0' })
  expect(xml).toContain('<system-out>failed, within the threshold of the run: the file is missing')
  expect(xml).toContain('<system-out>warning: post script 1 failed</system-out>')
})

test('a trial that tried nothing is no error, in the other reports neither', async () => {
  const run = sampleRun([sampleRecord({ verdict: 'invalid', untried: true, reason: 'no tool was called' })])
  const xml = await junit(run)
  expect(parser.parse(xml).testsuites).toMatchObject({ tests: '1', failures: '0', errors: '0' })
  expect(xml).toContain('<system-out>it tried nothing: no tool was called')
  const sink = textSink()
  const context = { sink, summarySink: textSink(), color: false, columns: 80, live: false }
  for (const reporter of [tapReporter, githubReporter]) await reporter(context).runEnded?.(run)
  expect(sink.text()).toMatch(/^not ok 1 - .* # TODO it tried nothing$/m)
  expect(sink.text()).toMatch(/^::notice .*no tool was called$/m)
})

test('the model that really answered and the prompt are properties', async () => {
  const usage = [
    { model: 'claude-opus-9', tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, costUsd: null },
  ]
  const xml = await junit(sampleRun([sampleRecord({ model: 'default', usage, prompt: 'Write <it>.' })]))
  expect(xml).toContain('<property name="model" value="claude-opus-9"/>')
  expect(xml).toContain('<property name="prompt" value="Write &lt;it&gt;."/>')
})

test('a suite per case, a test case per trial, and the counts are right', async () => {
  const parsed = parser.parse(await junit(sampleRun(sampleRecords, { notRun: [late] })))
  expect(parsed.testsuites).toMatchObject({
    tests: '7',
    failures: '1',
    errors: '2',
    skipped: '1',
    time: '125.000',
  })
  const suites = parsed.testsuites.testsuite
  expect(
    suites.map((suite: Record<string, unknown>) => [
      suite.name,
      suite.tests,
      suite.failures,
      suite.errors,
      suite.skipped,
    ]),
  ).toEqual([
    ['create-note', '3', '1', '0', '0'],
    ['link-notes', '1', '0', '0', '0'],
    ['search', '1', '0', '1', '0'],
    ['broken-setup', '1', '0', '1', '0'],
    ['not run', '1', '0', '0', '1'],
  ])
})

test('a failed trial is a failure, infra and invalid are errors, not run is skipped', async () => {
  const text = await junit(
    sampleRun(sampleRecords, { notRun: [late], diagnose: () => ['the help is wrong'] }),
  )
  const { testsuite } = parser.parse(text).testsuites
  const failed = testsuite[0].testcase[2]
  expect(failed).toMatchObject({ name: 'claude-code, opus #3', classname: 'create-note', time: '12.340' })
  expect(failed.failure).toMatchObject({ message: '1 of 2 gates failed', type: 'fail' })
  expect(failed.failure['#text']).toBe(
    [
      '1 of 2 gates failed',
      'gate command_succeeds: notes check ended with exit code 2',
      '    unexpected paths:',
      '    | tmp/a.txt',
      '    | tmp/b.txt',
      '    output (last 10 of 14 lines):',
      ...Array.from({ length: 10 }, (_, index) => `    | line ${index + 5}`),
      'use of the tool: 8 commands, 2 errors (25%), 2 retries, 1 call for help, 75% right at the first try',
      'likely cause: the help is wrong',
      'files: /artifacts/runs/run_20260102_030405_abc123/trials/create-note-3',
    ].join('\n'),
  )
  expect(testsuite[2].testcase[0].error).toMatchObject({
    type: 'infra',
    message: 'the model refused the key',
  })
  expect(testsuite[3].testcase[0].error).toMatchObject({ type: 'invalid' })
  expect(testsuite[4].testcase[0]).toMatchObject({
    classname: 'late',
    skipped: { message: expect.stringContaining('not run') },
  })
  expect(testsuite[1].testcase[0].properties.property).toEqual(
    expect.arrayContaining([
      { name: 'agent', value: 'codex' },
      { name: 'cost_usd', value: 'unmetered' },
      { name: 'score', value: '0.91' },
    ]),
  )
})

test('trials not run because of an interruption are skipped with that reason', async () => {
  const text = await junit(sampleRun([sampleRecord()], { notRun: [late], interrupted: true }))
  const { testsuite } = parser.parse(text).testsuites
  expect(testsuite[1].testcase[0].skipped).toEqual({ message: 'not run: the run was interrupted' })
})

test('interleaved cases still have one suite each, even when they need several passes', async () => {
  const records = Array.from({ length: 1_200 }, (_, index) =>
    sampleRecord({ case: `case-${index % 300}`, attempt: Math.floor(index / 300) + 1 }),
  )
  const { testsuite } = parser.parse(await junit(sampleRun(records))).testsuites
  expect(testsuite).toHaveLength(300)
  for (const suite of testsuite) {
    expect(suite.tests).toBe('4')
    expect(suite.testcase.map((trial: { classname: string }) => trial.classname)).toEqual(
      Array(4).fill(suite.name),
    )
  }
})

test('not-run trials without names are counted and skipped', async () => {
  const run = sampleRun([sampleRecord()])
  const text = await junit({ ...run, summary: { ...run.summary, notRun: 3 } })
  expect(parser.parse(text).testsuites).toMatchObject({ tests: '4', skipped: '3' })
})

test('any text is preserved in attributes and content, except for characters that XML cannot represent', () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const special = fc.constantFrom(
    ']]>',
    '\ud800',
    '\udfff',
    '&',
    '<',
    '"',
    "'",
    '\0',
    '\u001b',
    '\r',
    '\n',
    '\t',
    '\uffff',
    '&#10;',
  )
  const anything = fc.array(fc.oneof(unit, special), { maxLength: 60 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(anything, (text) => {
      const document = `<a${xmlAttributes({ b: text })}>x${escapeXml(text)}x</a>`
      expect(XMLValidator.validate(document)).toBe(true)
      expect(document).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\]\]>/)
      expect(document.isWellFormed()).toBe(true)
      const carried = text.toWellFormed().replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
      expect(decoded(/ b="([^"]*)"/.exec(document)?.[1] ?? '')).toBe(carried)
      expect(decoded(/>x([^<]*)x</.exec(document)?.[1] ?? '')).toBe(carried)
    }),
  )
})

/** Independent of the parser, which does not decode numeric references of control characters. */
function decoded(text: string): string {
  const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code === undefined ? (names[name] ?? whole) : String.fromCodePoint(Number(code)),
  )
}
