import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { sampleRecord, sampleRecords, sampleRun, streamed, textSink } from '../../test/support/sample-run.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { FinishedRun } from './contract.ts'
import { tapReporter } from './tap.ts'

async function tap(run: FinishedRun): Promise<string> {
  const sink = textSink()
  await tapReporter({ sink, color: false, columns: 80, live: false }).runEnded?.(run)
  return sink.text()
}

test('a failure within the threshold of the run is a TODO, and a passed trial shows its warnings', async () => {
  const records = [
    sampleRecord({ attempt: 1, warnings: ['post script 1 failed'] }),
    sampleRecord({ attempt: 2, verdict: 'fail' }),
  ]
  const text = await tap(sampleRun(records, { threshold: 0.5 }))
  expect(text).toMatch(
    /^ok 1 - .*\n {2}---\n {2}model: "opus"\n {2}\.\.\.\n# warning: post script 1 failed\n/m,
  )
  expect(text).toMatch(/^not ok 2 - .* # TODO failed, within the threshold of the run$/m)
})

test('the plan, a test point per trial, diagnostics for trials that did not pass and SKIP for those that did not run', async () => {
  const late = { id: 'late-1', case: 'late', agent: 'codex', model: 'default', attempt: 1 }
  const picked = [sampleRecords[0], sampleRecords[2], sampleRecords[4]].filter(
    (record) => record !== undefined,
  )
  expect(await tap(sampleRun(picked, { notRun: [late] }))).toMatchInlineSnapshot(`
    "TAP version 14
    1..4
    ok 1 - create-note (claude-code, opus)
      ---
      model: "opus"
      ...
    not ok 2 - create-note (claude-code, opus) \\#3
      ---
      verdict: "fail"
      message: "1 of 2 gates failed"
      severity: "fail"
      file: "scenarios/create-note.yaml"
      agent: "claude-code"
      model: "opus"
      duration_ms: 12340
      cost_usd: 0.0421
      explanation:
        - "gate command_succeeds: notes check ended with exit code 2"
        - "    unexpected paths:"
        - "    | tmp/a.txt"
        - "    | tmp/b.txt"
        - "    output (last 10 of 14 lines):"
        - "    | line 5"
        - "    | line 6"
        - "    | line 7"
        - "    | line 8"
        - "    | line 9"
        - "    | line 10"
        - "    | line 11"
        - "    | line 12"
        - "    | line 13"
        - "    | line 14"
        - "use of the tool: 8 commands, 2 errors (25%), 2 retries, 1 call for help, 75% right at the first try"
        - "files: /artifacts/runs/run_20260102_030405_abc123/trials/create-note-3"
      ...
    not ok 3 - search (codex)
      ---
      verdict: "infra"
      message: "the model refused the key"
      severity: "error"
      file: "scenarios/search.yaml"
      agent: "codex"
      model: "default"
      duration_ms: 12340
      cost_usd: 0.0421
      explanation:
        - "agent: the agent was killed by a signal"
        - "use of the tool: 8 commands, 2 errors (25%), 2 retries, 1 call for help, 75% right at the first try"
        - "files: /artifacts/runs/run_20260102_030405_abc123/trials/search-1"
      ...
    ok 4 - late (codex) # SKIP not run: budget, time limit or interruption
    "
  `)
})

test('a hash or a backslash in a name starts no directive, and a line break ends no line', async () => {
  const text = await tap(sampleRun([sampleRecord({ case: 'a # SKIP\nok 2 - b \\ # TODO' })]))
  expect(text.split('\n').slice(0, 3)).toEqual([
    'TAP version 14',
    '1..1',
    'ok 1 - a \\# SKIP ok 2 - b \\\\ \\# TODO (claude-code, opus)',
  ])
})

test('diagnostics are valid YAML, whatever they contain', async () => {
  const reason = 'a: "b"\n- \u001b[31m... --- \u2028 \ud800 \u007f é 検 \\n'
  const text = await tap(sampleRun([sampleRecord({ verdict: 'fail', reason, agent: reason, file: reason })]))
  const block = /^ {2}---\n([\s\S]*?)^ {2}\.\.\.$/m.exec(text)?.[1] ?? ''
  expect(parse(block)).toMatchObject({
    message: 'a: "b" - ... --- \ufffd é 検 \\n',
    file: reason.toWellFormed(),
    cost_usd: 0.0421,
  })
})

test('without trials the plan is empty', async () => {
  expect(await tap(sampleRun([]))).toBe('TAP version 14\n1..0 # SKIP no trials\n')
})

test('records that cannot be read completely bail out', async () => {
  let reading = 0
  const records = async function* (): AsyncGenerator<TrialRecord> {
    reading += 1
    yield* streamed(sampleRecords.slice(0, 1))
    if (reading === 2) throw new Error('disk gone')
  }
  const sink = textSink()
  const ending = tapReporter({ sink, color: false, columns: 80, live: false }).runEnded?.(
    sampleRun(sampleRecords, { records }),
  )
  await expect(ending).rejects.toThrow('disk gone')
  expect(sink.text()).toMatch(/\nBail out! .*disk gone\n$/)
})
