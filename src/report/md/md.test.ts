import { expect, test } from 'vitest'
import {
  sampleRecord,
  sampleRecords,
  sampleRegressions,
  sampleRun,
  textSink,
} from '../../../test/support/sample-run.ts'
import type { FinishedRun } from '../contract.ts'
import { codeBlock, escapeMarkdown } from './escape-markdown.ts'
import { evaluationMarkdown } from './evaluation-markdown.ts'
import { mdReporter } from './md.ts'

const links = {
  Transcript: 'transcript.raw.txt',
  Metrics: 'metrics.json',
  Events: 'events.jsonl',
  Fixture: 'fixture/a (b).md',
}

test('a run as Markdown', async () => {
  const sink = textSink()
  const path = '/artifacts/runs/run_20260102_030405_abc123/report.md'
  const run = sampleRun(sampleRecords.slice(0, 4), { regressions: sampleRegressions })
  await mdReporter({ sink, path, color: false, columns: 80, live: false }).runEnded?.(run)
  expect(sink.text()).toMatchInlineSnapshot(`
    "# ❌ FAIL: notes suite

    1 of 4 counted trials failed.

    |  |  |
    | --- | --- |
    | Trials | 4 counted: 3 passed, 1 failed |
    | Pass rate | 67% (9-100%) claude-code, opus, mean of 1 case with 95% interval |
    | Pass rate | 100% (2-100%) codex, mean of 1 case with 95% interval |
    | Flaky | 100% of repeated cases both passed and failed |
    | Cost | \\$0.0842, and 1 trial unmetered |
    | Time | 2m 5s, 1 trial from the cache |
    | Run | run_20260102_030405_abc123 |

    ## Regressions

    - **alert** create-note (claude-code, opus): gate 2 (command_succeeds) passed 3 of 3 times before and 2 of 3 times now

    ## Cases

    |  | Case | Agent | Passed | Rate | 95% interval | pass@3 | pass^3 | Score | Cost | Time |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | ❌ | create-note (flaky) | claude-code, opus | 2/3 | 67% | 9-100% | 100% | 0% | – | \\$0.0421 | 12.3s |
    | ✅ | link-notes | codex | 1/1 | 100% | 2-100% | – | – | 0.91 | unmetered | 12.3s |

    ## Use of the tool

    | Case | Agent | Commands | Errors | First try | Help |
    | --- | --- | --- | --- | --- | --- |
    | create-note | claude-code, opus | 8 | 25% | 75% | 1 |
    | link-notes | codex | 8 | 25% | 75% | 1 |

    Means of counted trials. errors: commands that failed. first try: different commands that worked the first time. help: calls for help.

    ## What did not pass

    ### ❌ create-note (claude-code, opus) #3

    **fail**: 1 of 2 gates failed

    | Failed gate | Message |
    | --- | --- |
    | command_succeeds | notes check ended with exit code 2 |

    **command_succeeds**

    unexpected paths:

    > \`\`\`text
    > tmp/a.txt
    > tmp/b.txt
    > \`\`\`

    output:

    > \`\`\`text
    > line 1
    > line 2
    > line 3
    > line 4
    > line 5
    > line 6
    > line 7
    > line 8
    > line 9
    > line 10
    > line 11
    > line 12
    > line 13
    > line 14
    > \`\`\`

    - Use of the tool: 8 commands, 2 errors (25%), 2 retries, 1 call for help, 75% right at the first try

    Files: [create-note-claude-code-3](trials/create-note-3)

    ## Next

    - Run only the failed trials again: add --rerun-failed

    Made by Gantry 0.1.0. Files: /artifacts/runs/run_20260102_030405_abc123
    "
  `)
})

test('an interrupted run is marked, and failures within the threshold are shown', async () => {
  const late = { id: 'late-1', case: 'late', agent: 'codex', model: 'default', attempt: 1 }
  const written = async (run: FinishedRun): Promise<string> => {
    const sink = textSink()
    await mdReporter({ sink, color: false, columns: 80, live: false }).runEnded?.(run)
    return sink.text()
  }
  const interrupted = await written(sampleRun([sampleRecord()], { notRun: [late], interrupted: true }))
  expect(interrupted).toMatch(/^# ⏸️ INTERRUPTED: notes suite\n\n1 of 2 planned trials finished/)
  const records = [1, 2, 3, 4].map((attempt) =>
    sampleRecord({ attempt, verdict: attempt === 1 ? 'fail' : 'pass' }),
  )
  const within = await written(sampleRun(records, { threshold: 0.75 }))
  expect(within).toMatch(/^# ✅ PASS: .*\n\n1 of 4 counted trials failed, within the threshold of 75%\.\n/)
  expect(within).toContain('| ✅ | create-note (flaky) |')
})

test('evaluation.md of a judged trial', () => {
  const judged = sampleRecords[3]
  if (judged === undefined) throw new Error('the sample has no judged trial')
  expect(evaluationMarkdown(judged, { links })).toMatchInlineSnapshot(`
    "# Evaluation: link-notes

    ## Summary

    - **Scenario:** link-notes
    - **Tool:** codex
    - **Model:** default
    - **Attempt:** 1
    - **Outcome:** Pass: all 2 gates passed

    ## Judge Score

    **4/5** (0.83, threshold 0.70, passed)

    ## Metrics

    | Metric | Value |
    | --- | --- |
    | Gates | 2/2 passed |
    | Duration | 12.3s |
    | Cost | unmetered |
    | Composite score | 0.91 (Excellent) |
    | Commands | 8 (6 different) |
    | Errors | 2 (25%) |
    | Retries | 2 (25%) |
    | Calls for help | 1 |
    | First-try success rate | 75% |
    | Iteration ratio | 0.75 |
    | Completed | yes |
    | Seen through | events (exact) |

    ## Gates

    | Gate | Result | Message |
    | --- | --- | --- |
    | file_exists | passed | notes.md exists |
    | command_succeeds | passed | exit code 0 |

    ## Judge Feedback

    - **Judge:** judge-model
    - **Confidence:** 0.90
    - **Samples:** 2, 1 without an answer
    - **Agreement:** 0.95
    - **Cost:** \\$0.0020

    | Criterion | Score |
    | --- | --- |
    | structure | 0.80 |
    | coverage | 0.86 |

    ### Issues

    - one link is missing

    ### Highlights

    - clear titles

    ### Samples without an answer

    - the judge answered no JSON

    ## Custom Evaluator Results

    ### link-count
    - **Score:** 0.75
    - **Summary:** 3 of 4 links
    - links: 3

    ### style
    - **Error:** exit code 1

    ## Human Review

    <!--
    Score (out of 5):
    Notes:
    -->

    ## Links

    - [Transcript](transcript.raw.txt)
    - [Metrics](metrics.json)
    - [Events](events.jsonl)
    - [Fixture](fixture/a%20%28b%29.md)
    "
  `)
})

test('without judge, composite and evaluators their sections are absent; failed gates show their findings', () => {
  const failed = sampleRecords[2]
  if (failed === undefined) throw new Error('the sample has no failed trial')
  const text = evaluationMarkdown(failed, { links: {}, diagnosis: ['The help output is not enough.'] })
  expect(text).not.toMatch(/Judge|Composite|Evaluator/)
  expect(text).toContain('- **Outcome:** Fail: 1 of 2 gates failed')
  expect(text).toContain('| command_succeeds | FAILED | notes check ended with exit code 2 |')
  expect(text).toContain('output:\n\n> ```text\n> line 1\n')
  expect(text).toContain('- The help output is not enough.')
  expect(text).toContain('<!--\nScore (out of 5):\nNotes:\n-->')
})

test('the judge score is out of five, rounded, and stays in range', () => {
  const judged = sampleRecords[3]
  const scored = (weighted_score: number): string => {
    const judge = judged?.judge ?? null
    if (judge === null) throw new Error('the sample has no judged trial')
    return evaluationMarkdown(sampleRecord({ judge: { ...judge, weighted_score } }), { links: {} })
  }
  expect(scored(0.49)).toContain('**2/5**')
  expect(scored(0.5)).toContain('**3/5**')
  expect(scored(1.4)).toContain('**5/5**')
})

test('foreign text starts no markup, ends no cell and is never HTML', () => {
  expect(escapeMarkdown('<b>|a|</b> *x* `y` [l](u) _z_ a_b ~s~ $m$\n# h')).toBe(
    '&lt;b&gt;\\|a\\|&lt;/b&gt; \\*x\\* \\`y\\` \\[l\\](u) \\_z\\_ a_b \\~s\\~ \\$m\\$ # h',
  )
  expect(['# h', '- a', '1. a', '::error::', '===', 'x #', '-5', '12.3s'].map(escapeMarkdown)).toEqual([
    '\\# h',
    '\\- a',
    '1\\. a',
    '\\::error::',
    '\\===',
    'x \\#',
    '-5',
    '12.3s',
  ])
})

test('a block cannot be closed from inside', () => {
  expect(codeBlock('a\n````\n::error::\n<b>')).toBe('> `````text\n> a\n> ````\n> ::error::\n> <b>\n> `````')
})
