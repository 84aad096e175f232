import { expect, test } from 'vitest'
import { sampleRecord, sampleRecords, sampleRun, textSink } from '../../test/support/sample-run.ts'
import { githubReporter } from './github.ts'

test('annotations are written to the log and the summary to its own sink', async () => {
  const [sink, summarySink] = [textSink(), textSink()]
  const reporter = githubReporter({ sink, summarySink, color: false, columns: 80, live: false })
  await reporter.runEnded?.(sampleRun(sampleRecords))
  expect(sink.text()).toMatchInlineSnapshot(`
    "::error file=scenarios/create-note.yaml,line=1,title=fail%3A create-note (claude-code%2C opus) #3::1 of 2 gates failed%0Acommand_succeeds: notes check ended with exit code 2
    ::warning file=scenarios/search.yaml,line=1,title=infra%3A search (codex)::the model refused the key
    ::error file=scenarios/broken-setup.yaml,line=1,title=invalid%3A broken-setup (claude-code%2C opus)::setup command 1 ended with exit code 127
    "
  `)
  expect(summarySink.text()).toMatch(/^# ❌ FAIL: notes suite\n/)
  expect(summarySink.text()).not.toContain('::error')
  expect(summarySink.text()).toContain('| create-note | claude-code, opus | 8 | 25% | 75% | 1 |')
})

test('commas, colons, percent signs and line breaks are escaped', async () => {
  const sink = textSink()
  const record = sampleRecord({
    verdict: 'fail',
    case: 'a,b:c%0A::error::x',
    file: 'x.yaml,line=1::pwn',
    reason: '100%\n::stop-commands::token\r\nend',
    gates: [{ type: 'g\n::add-mask::x', passed: false, message: 'm\n::x', detail: {} }],
  })
  await githubReporter({ sink, summarySink: textSink(), color: false, columns: 80, live: false }).runEnded?.(
    sampleRun([record]),
  )
  expect(sink.text()).toBe(
    '::error file=x.yaml%2Cline=1%3A%3Apwn,line=1,title=fail%3A a%2Cb%3Ac%250A%3A%3Aerror%3A%3Ax (claude-code%2C opus)' +
      '::100%25 ::stop-commands::token end%0Ag ::add-mask::x: m ::x\n',
  )
})

test('an annotation points at the failed gate in the repository, and repeats neither its reason nor equal trials', async () => {
  const sink = textSink()
  const failed = {
    verdict: 'fail' as const,
    file: 'scenarios/a.yaml',
    reason: 'README.md does not exist',
    gates: [
      { type: 'file_exists', passed: true, message: 'fine', detail: {}, line: 7 },
      { type: 'file_exists', passed: false, message: 'README.md does not exist', detail: {}, line: 9 },
    ],
  }
  const records = [1, 2, 3].map((attempt) => sampleRecord({ ...failed, attempt }))
  const repositoryPath = (file: string): string => `packages/tool/${file}`
  const context = { sink, summarySink: textSink(), repositoryPath, color: false, columns: 80, live: false }
  await githubReporter(context).runEnded?.(sampleRun(records))
  expect(sink.text()).toMatch(
    /^::error file=packages\/tool\/scenarios\/a.yaml,line=9,title=.*\(3 trials\)::README.md does not exist\n$/,
  )
})

test('failures within the threshold of the run are no errors', async () => {
  const sink = textSink()
  const records = [
    sampleRecord({ attempt: 1 }),
    sampleRecord({ attempt: 2, verdict: 'fail', reason: 'the file is missing' }),
  ]
  await githubReporter({ sink, summarySink: textSink(), color: false, columns: 80, live: false }).runEnded?.(
    sampleRun(records, { threshold: 0.5 }),
  )
  expect(sink.text()).toMatch(/^::notice .*the file is missing\n$/)
})

test('many failures are cut, and a summary stays below the limit of GitHub', async () => {
  const [sink, summarySink] = [textSink(), textSink()]
  const records = Array.from({ length: 600 }, (_, index) =>
    sampleRecord({
      verdict: 'fail',
      case: `case-${index}`,
      gates: [{ type: 'g', passed: false, message: 'm', detail: { output: 'some output\n'.repeat(400) } }],
      reason: 'x'.repeat(3_000),
    }),
  )
  await githubReporter({ sink, summarySink, color: false, columns: 80, live: false }).runEnded?.(
    sampleRun(records),
  )
  const annotations = sink.text().trimEnd().split('\n')
  expect(annotations).toHaveLength(51)
  expect(annotations.at(-1)).toBe('::error::550 more trials did not pass; see the step summary')
  expect(Buffer.byteLength(summarySink.text())).toBeLessThan(1024 * 1024)
  expect(summarySink.text()).toContain('does not fit into a step summary')
})
