import { expect, test } from 'vitest'
import { sampleRecord, sampleRecords, sampleRun, textSink } from '../../test/support/sample-run.ts'
import { githubReporter } from './github.ts'

test('annotations go to the log and the summary to its own place', async () => {
  const [sink, summarySink] = [textSink(), textSink()]
  const reporter = githubReporter({ sink, summarySink, color: false, columns: 80, live: false })
  await reporter.runEnded?.(sampleRun(sampleRecords))
  expect(sink.text()).toMatchInlineSnapshot(`
    "::error file=scenarios/create-note.yaml,title=fail%3A create-note (claude-code%2C opus) #3::1 of 2 gates failed%0Acommand_succeeds: notes check ended with exit code 2
    ::warning file=scenarios/search.yaml,title=infra%3A search (codex)::the model refused the key
    ::error file=scenarios/broken-setup.yaml,title=invalid%3A broken-setup (claude-code%2C opus)::set-up command 1 ended with exit code 127
    "
  `)
  expect(summarySink.text()).toMatch(/^# ❌ FAIL: notes suite\n/)
  expect(summarySink.text()).not.toContain('::error')
  expect(summarySink.text()).toContain('| create-note | claude-code, opus | 8 | 25% | 75% | 1 |')
})

test('commas, colons, percents and line breaks cannot leave their place', async () => {
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
    '::error file=x.yaml%2Cline=1%3A%3Apwn,title=fail%3A a%2Cb%3Ac%250A%3A%3Aerror%3A%3Ax (claude-code%2C opus)' +
      '::100%25 ::stop-commands::token end%0Ag ::add-mask::x: m ::x\n',
  )
})

test('a flood of failures is cut, and a summary stays below what GitHub accepts', async () => {
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
