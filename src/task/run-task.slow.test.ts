import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { adds, type Lab, type LabOptions, openLab, sum, tested, write } from '../../test/support/task-lab.ts'
import type { Store } from '../store/contract.ts'
import { readManifest } from '../store/manifest.ts'
import type { TaskEvent } from './contract.ts'
import { shutdown, type TaskEnd } from './task-request.ts'

const labs: Lab[] = []
afterEach(() => {
  for (const lab of labs.splice(0)) lab[Symbol.dispose]()
})

function lab(options: LabOptions): Lab {
  const opened = openLab(options)
  labs.push(opened)
  return opened
}

/** A write that cannot be detected from the command line. */
const sneak = (path: string) => `import { writeFileSync as put } from 'node:fs'\nput(${path}, 'sneaked')\n`

const reportOf = ({ runsDir }: Store, { runId }: TaskEnd, name: string): string =>
  readFileSync(join(runsDir, runId, 'reports', name), 'utf8')
const snapshots = ({ runsDir }: Store, { runId }: TaskEnd): readonly string[] =>
  readdirSync(join(runsDir, runId, 'reports')).filter((name) => /^context_\d+\.md$/.test(name))
const of = <Kind extends TaskEvent['kind']>(events: readonly TaskEvent[], kind: Kind) =>
  events.filter((event): event is Extract<TaskEvent, { kind: Kind }> => event.kind === kind)
const states = (events: readonly TaskEvent[]) => of(events, 'state_transition').map(({ to }) => to)

test('a task that passes at once has two Scouts, one edit, one verification, two snapshots, a summary', async () => {
  const { root, run, store } = lab({ edits: [[sum('+'), tested(1), { say: 'The sign was wrong.' }]] })
  const { end, events, changes } = await run()
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1, replans: 0, report: null, proposal: null })
  expect(states(events)).toEqual(['ANALYZING', 'IMPLEMENTING', 'VERIFYING', 'COMPLETED'])
  expect(of(events, 'scout_query').map(({ scout }) => scout)).toEqual(['scout_a', 'scout_b'])
  expect(of(events, 'milestone').map(({ milestone }) => milestone)).toEqual([
    'started',
    'baseline',
    'analyzing',
    'scout_a',
    'scout_b',
    'analyzed',
    'implementing',
    'implemented',
    'verifying',
    'verified',
    'succeeded',
  ])
  expect(snapshots(store, end)).toHaveLength(2)
  const first = reportOf(store, end, 'context_001.md')
  expect(first).toContain('"root_cause":"the sign is wrong"')
  expect(first).toContain('mend the sign')
  expect(readdirSync(root)).not.toContain('.gitignore')
  expect(readdirSync(root)).not.toContain('agent')
  expect(end.summary).toContain('The sign was wrong.')
  expect(end.summary).toContain(end.runIds[0])
  expect(end.summary).toContain('src/add.js (modified)')
  expect(end.summary).toContain('test/more.test.js (added)')
  expect(readFileSync(join(root, 'src/add.js'), 'utf8')).toContain('a + b')
  expect(existsSync(join(root, '.harness'))).toBe(false)
  expect(events.at(-1)).toMatchObject({ kind: 'task_ended', state: 'SUCCESS', run_ids: end.runIds })
  expect(changes).toContainEqual({ task_run_id: end.runId })
  expect(changes).toContainEqual({ current_attempt: 1 })
  expect(changes).toContainEqual({ run_ids: end.runIds })
  const runDir = join(store.runsDir, end.runId)
  expect(readManifest(runDir)).toMatchObject({ kind: 'task', status: 'pass', refers_to: end.runIds })
  expect(readdirSync(runDir)).not.toContain('shadow.git')
  expect(readFileSync(join(runDir, 'reports/summary.md'), 'utf8')).toBe(end.summary)
})

test('Scout B diagnoses a failed verification, and the next edit starts from the same tree', async () => {
  const { root, run, store } = lab({ edits: [[sum('*'), tested(1)], [sum('+')]] })
  const { end, events } = await run()
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 2, replans: 0 })
  expect(states(events)).toEqual([
    'ANALYZING',
    'IMPLEMENTING',
    'VERIFYING',
    'DEBUGGING',
    'VERIFYING',
    'COMPLETED',
  ])
  expect(of(events, 'diagnosis')).toMatchObject([{ attempt: 1, text: expect.stringContaining('sign') }])
  expect(of(events, 'verifier_result')).toMatchObject([
    { status: 'FAIL', failure: 'AssertionError: expected 3 but got -1' },
    { status: 'PASS', failure: null },
  ])
  expect(of(events, 'scout_query').map(({ scout }) => scout)).toEqual(['scout_a', 'scout_b', 'scout_b'])
  // The first edit is still there.
  expect(existsSync(join(root, 'test/more.test.js'))).toBe(true)
  expect(snapshots(store, end)).toHaveLength(2)
})

test('three failures replan, with three snapshots, a new strategy, and the earlier ones in the prompt', async () => {
  const strategy = 'Write the sum in src/add.js with a plus sign.'
  const { run, store } = lab({
    edits: [[sum('*'), tested(1)], [sum('/')], [sum('%')], [sum('+')]],
    strategies: [strategy],
  })
  const { end, events } = await run()
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 4, replans: 1 })
  expect(snapshots(store, end)).toHaveLength(3)
  expect(of(events, 'replan')).toMatchObject([{ attempt: 3, strategy }])
  expect(of(events, 'snapshot').map(({ milestone }) => milestone)).toEqual([
    'task_start',
    'replan',
    'task_success',
  ])
  expect(states(events).slice(-4)).toEqual(['REPLANNING', 'IMPLEMENTING', 'VERIFYING', 'COMPLETED'])
  expect(reportOf(store, end, 'context_002.md')).toContain(strategy)
})

test('an impossible task ends STUCK at twelve, with twelve runs, three REPLANs and at least three hypotheses', async () => {
  const { top, run, store } = lab({
    edits: Array.from({ length: 12 }, (_, n) => [sum(`- ${n} -`), tested(n)]),
    strategies: ['Way one.', 'Way two.', 'Way three.'],
  })
  const { end, events } = await run()
  expect(end).toMatchObject({ state: 'STUCK', attempts: 12, replans: 3, summary: null })
  expect(new Set(end.runIds).size).toBe(12)
  const report = reportOf(store, end, 'stuck_report.md')
  for (const id of end.runIds) expect(report).toContain(id)
  expect(report.match(/^\d+\. /gm)?.length ?? 0).toBeGreaterThanOrEqual(3)
  // Task start and three REPLANs; no success.
  expect(snapshots(store, end)).toHaveLength(4)
  expect(of(events, 'replan').map(({ attempt }) => attempt)).toEqual([3, 6, 9])
  expect(of(events, 'milestone').at(-1)).toMatchObject({ milestone: 'stuck' })
  for (const id of [end.runId, ...end.runIds])
    expect(readManifest(join(store.runsDir, id)).flags.stuck).toBe(true)

  // A retry, or the same task again, shows the report to the Editor. A success resolves it.
  writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', turns: [{ say: 'nothing' }] }))
  const { events: told } = await run({ retry: true, retryOf: end.runId, dryRun: true })
  expect(JSON.stringify(of(told, 'note'))).toContain('got stuck')
  const { events: other } = await run({ description: 'Something else.', dryRun: true })
  expect(JSON.stringify(of(other, 'note'))).not.toContain('got stuck')
  writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', turns: [sum('+'), tested(99)] }))
  const { end: second, events: later } = await run()
  expect(second.state).toBe('SUCCESS')
  expect(
    of(later, 'note')
      .map(({ message }) => message)
      .join('\n'),
  ).toContain('got stuck')
  for (const id of [end.runId, ...end.runIds])
    expect(readManifest(join(store.runsDir, id)).flags.stuck).toBe(false)
})

describe('refusals', () => {
  test('a tree that failed before is refused twice, with a note in the prompt, then verified anyway', async () => {
    const { run } = lab({
      edits: [[sum('*'), tested(1)], [sum('*')], [{ say: 'nothing' }], [{ say: 'nothing' }], [sum('+')]],
    })
    const { end, events } = await run()
    expect(end).toMatchObject({ state: 'SUCCESS', attempts: 3 })
    const notes = of(events, 'note').map(({ message }) => message)
    expect(notes.filter((message) => message.startsWith('Not verified: '))).toHaveLength(2)
    expect(notes.filter((message) => message.includes('verified anyway'))).toHaveLength(1)
    expect(of(events, 'edit')).toHaveLength(5)
  })

  test('a tree that the Editor never changes is NO_CHANGE, also in a dry run', async () => {
    const { run } = lab({ edits: [[{ say: 'It is right already.' }]] })
    const { end, events } = await run()
    expect(end).toMatchObject({ state: 'NO_CHANGE', attempts: 0, summary: null, report: null })
    expect(end.reason).toContain('It is right already.')
    expect(of(events, 'edit')).toHaveLength(3)
    expect(of(events, 'milestone').at(-1)).toMatchObject({ milestone: 'unchanged' })
    const dry = await run({ dryRun: true })
    expect(dry.end).toMatchObject({ state: 'NO_CHANGE', proposal: null })
  })

  test('the steps run once on the untouched tree, and the result is reused for the same tree', async () => {
    const { run } = lab({ edits: [[sum('+'), tested(1)]], check: `${adds}; echo "3 passed in 0.1s"` })
    const dry = await run({ dryRun: true })
    expect(of(dry.events, 'baseline')).toMatchObject([{ status: 'FAIL', tests: null, reused: false }])
    const counted = lab({
      edits: [[sum('+'), tested(1)]],
      check: 'echo "3 passed in 0.1s"',
    })
    const first = await counted.run({ dryRun: true })
    expect(of(first.events, 'baseline')).toMatchObject([{ status: 'PASS', tests: 3, reused: false }])
    const second = await counted.run()
    expect(of(second.events, 'baseline')).toMatchObject([
      { status: 'PASS', tests: 3, reused: true, run_id: null },
    ])
    expect(second.end.state).toBe('SUCCESS')
  })

  test('ignored files that steps can see are put back, and a changed dependency makes the result WEAKENED', async () => {
    const files = {
      '.gitignore': 'node_modules\ndist\n',
      'node_modules/chk/index.js': 'real\n',
      'dist/out.js': 'old\n',
    }
    const kept = lab({
      files,
      edits: [
        [
          sum('+'),
          tested(1),
          write('dist/out.js', 'new\n'),
          write('dist/more.js', 'x'),
          write('node_modules/chk/b.js', 'x'),
        ],
      ],
    })
    const { end } = await kept.run()
    expect(end).toMatchObject({ state: 'SUCCESS' })
    expect(readFileSync(join(kept.root, 'dist/out.js'), 'utf8')).toBe('old\n')
    for (const path of ['dist/more.js', 'node_modules/chk/b.js'])
      expect(existsSync(join(kept.root, path))).toBe(false)
    expect(end.summary).toContain('The Editor changed dist/out.js, which was put back')
    const changed = lab({
      files,
      edits: [[sum('+'), tested(1), write('node_modules/chk/index.js', 'fake\n')]],
    })
    const { end: weak } = await changed.run()
    expect(weak).toMatchObject({ state: 'WEAKENED', weakened: [{ where: 'node_modules/chk/index.js' }] })
    expect(weak.summary).toContain('# Task Weakened')
  })

  test('an Editor that changes nothing is asked again before anything is verified', async () => {
    const { run } = lab({ edits: [[{ say: 'done' }], [sum('+'), tested(1)]] })
    const { end, events } = await run()
    expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
    expect(
      of(events, 'note')
        .map(({ message }) => message)
        .join(),
    ).toContain('the tree is unchanged')
  })

  test('a strategy that was already tried is refused and asked for again', async () => {
    const { run } = lab({
      edits: [[sum('*'), tested(1)], [sum('/')], [sum('%')], [sum('+')]],
      strategies: ['Implement the smallest safe slice: MEND the sign  (src/add.js)', 'Write it anew.'],
    })
    const { end, events } = await run()
    expect(end.state).toBe('SUCCESS')
    expect(of(events, 'replan')).toMatchObject([{ strategy: 'Write it anew.' }])
    expect(
      of(events, 'note')
        .map(({ message }) => message)
        .join(),
    ).toContain('already tried')
  })

  test('a change without a test gets one more turn, and the summary names tests still missing', async () => {
    const { run } = lab({ edits: [[sum('+')], [{ say: 'no test can notice it' }]] })
    const { end, events } = await run()
    expect(end.state).toBe('SUCCESS')
    expect(of(events, 'edit')).toHaveLength(2)
    expect(end.summary).toContain('No test was added or changed for src/add.js')
    const asked = lab({ edits: [[sum('+')], [tested(1)]] })
    const better = await asked.run()
    expect(better.end.summary).not.toContain('No test was added')
  })

  test('forbidden writes of the Editor are refused, or reverted when they happened', async () => {
    const { root, top, run } = lab({
      files: { 'sneak.mjs': sneak("['agent', 'yaml'].join('.')") },
      edits: [
        [
          write('agent.yaml', 'verification: {}\n'),
          { run: 'echo x > .git/hooks/pre-commit' },
          { run: `echo x > ${join('..', 'outside.txt')}` },
          { run: 'node sneak.mjs' },
          { run: 'git commit -am done' },
          sum('+'),
          tested(1),
        ],
      ],
    })
    const { end, events } = await run()
    expect(end.state).toBe('SUCCESS')
    expect(readFileSync(join(root, 'agent.yaml'), 'utf8')).toContain('container_image')
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false)
    expect(existsSync(join(top, 'outside.txt'))).toBe(false)
    expect(end.summary).toContain('The Editor changed agent.yaml, which was put back')
    const denied = of(events, 'agent').filter(({ event }) => event.is_error === true)
    expect(denied.length).toBeGreaterThanOrEqual(4)
  })

  test('an Editor that changes its verification is reported in the log, the next prompt and the summary', async () => {
    const { run, top } = lab({
      edits: [[sum('*'), tested(1), write('check.sh', 'grep -q "a + b" src/add.js # tamed\n')]],
    })
    const scripts = [{ when: { prompt_contains: 'Weakened tests' }, turns: [sum('+')] }]
    const turns = [sum('*'), tested(1), write('check.sh', 'grep -q "a + b" src/add.js # tamed\n')]
    writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts, turns }))
    const { end } = await run()
    expect(end).toMatchObject({ state: 'WEAKENED', attempts: 2, weakened: [{ where: 'sh check.sh' }] })
    expect(end.summary).toMatch(/Tests are weaker than before: the definition of .*check\.sh/)
    // The tree still has it, so a retry is held to the checks of the first try.
    const turn = [write('src/add.js', '// more\nexport const add = (a, b) => a + b\n')]
    writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', turns: turn }))
    const { end: again } = await run({ retryOf: end.runId })
    expect(again).toMatchObject({ state: 'WEAKENED', weakened: [{ where: 'sh check.sh' }] })
    const { end: third } = await run({ retryOf: again.runId, description: 'Another sum.' })
    expect(third).toMatchObject({ state: 'NO_CHANGE' })
  })

  test('a task confined to one package does not change the others', async () => {
    const { root, run } = lab({
      files: {
        'packages/one/a.js': 'export const a = 1\n',
        'packages/two/b.js': 'export const b = 1\n',
        'sneak.mjs': sneak("['packages', 'two', 'b.js'].join('/')"),
      },
      check: 'grep -q "a = 2" packages/one/a.js',
      edits: [
        [
          write('packages/two/b.js', 'no\n'),
          { run: 'node sneak.mjs' },
          write('packages/one/a.js', 'export const a = 2\n'),
          write('packages/one/a.test.js', "test('a', () => {})\n"),
        ],
      ],
    })
    const { end } = await run({ package: 'packages/one' })
    expect(end.state).toBe('SUCCESS')
    expect(readFileSync(join(root, 'packages/two/b.js'), 'utf8')).toBe('export const b = 1\n')
    expect(end.summary).toContain('packages/two/b.js, which was put back')
  })
})

describe('infrastructure', () => {
  test('an INFRA_ERROR of the Verifier stops at once, keeps the changes, and leaves a report', async () => {
    const { root, run, store } = lab({ edits: [[sum('+'), tested(1)]] })
    const { end, events } = await run(
      {},
      {
        verify: async (attempt) => ({
          status: attempt === 0 ? 'PASS' : 'INFRA_ERROR',
          run_id: null,
          tail_log: '',
          artifact_paths: [],
          manifest: null,
          error_type: 'docker_unavailable',
          error_message: 'the daemon is gone',
        }),
      },
    )
    expect(end).toMatchObject({ state: 'INFRA_ERROR', attempts: 1, runIds: [] })
    expect(end.reason).toContain('docker_unavailable: the daemon is gone')
    expect(readFileSync(join(root, 'src/add.js'), 'utf8')).toContain('a + b')
    const report = reportOf(store, end, 'stuck_report.md')
    expect(report).toContain('docker_unavailable')
    expect(of(events, 'milestone').at(-1)).toMatchObject({ milestone: 'infra' })
    expect(of(events, 'verifier_result')).toHaveLength(1)
  })

  test('an untouched tree that lacks a program or a dependency ends the task before a model is asked', async () => {
    const missing = async (check: string) => {
      const { run, store } = lab({
        edits: [[sum('+')]],
        check,
        files: { 'package.json': '{ "dependencies": { "chk": "1" } }' },
      })
      const { end, events } = await run()
      expect(of(events, 'scout_query')).toEqual([])
      expect(end).toMatchObject({ state: 'INFRA_ERROR', attempts: 0 })
      return { end, report: reportOf(store, end, 'stuck_report.md') }
    }
    const program = await missing('no-such-runner --all')
    expect(program.end.reason).toContain('the program no-such-runner is not in the image')
    expect(program.report).toContain('Use an image with no-such-runner')
    const dependency = await missing(`echo "Error: Cannot find module 'chk'"; exit 1`)
    expect(dependency.end.reason).toContain('the dependency chk is not installed')
    // Modules that the project does not declare, and tests that ran, may be the task.
    for (const check of [
      `echo "No module named 'unwritten'"`,
      `echo "Cannot find module 'chk'"; echo "1 failed in 0.1s"`,
    ]) {
      const { run } = lab({
        edits: [[sum('+'), tested(1)]],
        check: `grep -q "a + b" src/add.js || { ${check}; exit 1; }; echo "1 passed in 0.1s"`,
      })
      expect((await run()).end.state).toBe('SUCCESS')
    }
  })

  test('a Scout that cannot be reached ends the task before anything is written', async () => {
    const { root, run, store } = lab({
      edits: [[sum('+')]],
      answers: [{ match: 'You are Scout A', error: 'overloaded' }],
    })
    const { end, events } = await run()
    expect(end).toMatchObject({ state: 'INFRA_ERROR', attempts: 0 })
    expect(of(events, 'scout_query')).toMatchObject([{ success: false, tries: 4 }])
    expect(readFileSync(join(root, 'src/add.js'), 'utf8')).toContain('a - b')
    expect(reportOf(store, end, 'stuck_report.md')).toContain('Scout A')
  })

  test('a model failure during an edit is an infrastructure error', async () => {
    const { run } = lab({ edits: [[sum('+'), { infra: { reason: 'auth', message: 'key expired' } }]] })
    const { end } = await run()
    expect(end).toMatchObject({ state: 'INFRA_ERROR', attempts: 0, reason: 'Editor: auth: key expired' })
  })

  test('Scouts and Editor share one budget, which ends the task as STUCK', async () => {
    const { run } = lab({
      edits: [[sum('*'), tested(1), { usage: { cost_usd: 0.6 } }], [{ usage: { cost_usd: 0.6 } }]],
    })
    const { end } = await run({ maxCostUsd: 1 })
    expect(end).toMatchObject({ state: 'STUCK' })
    expect(end.reason).toContain('--max-cost-usd')
    expect(end.costUsd).toBeGreaterThanOrEqual(0.6)
  })
})

describe('cancelling', () => {
  const phases: readonly (readonly [string, (event: TaskEvent) => boolean, LabOptions])[] = [
    [
      'in the analysis',
      (event) => event.kind === 'milestone' && event.milestone === 'scout_b',
      { edits: [[sum('+')]], answers: [{ match: 'You are Scout B', json: {}, delay_ms: 60_000 }] },
    ],
    [
      'in an edit',
      (event) => event.kind === 'agent' && event.event.event === 'tool_result',
      { edits: [[sum('*'), { wait: '60s' }]] },
    ],
    [
      'in a verification',
      (event) => event.kind === 'verifier_trigger',
      { edits: [[sum('*'), tested(1)]], check: '! grep -q "a - b" src/add.js && sleep 60' },
    ],
    [
      'in the debugging',
      (event) => event.kind === 'state_transition' && event.to === 'DEBUGGING',
      { edits: [[sum('*'), tested(1)]] },
    ],
    [
      'in a REPLAN',
      (event) => event.kind === 'state_transition' && event.to === 'REPLANNING',
      { edits: [[sum('*'), tested(1)], [sum('/')], [sum('%')]] },
    ],
  ]
  test.each(phases)(
    'cancelled %s: the changes stay, no report is written, and all work stops',
    async (phase, when, options) => {
      const { root, run, store } = lab(options)
      const controller = new AbortController()
      const { end, events } = await run(
        {},
        {
          signal: controller.signal,
          onEvent: (event) => {
            if (when(event)) controller.abort()
          },
        },
      )
      expect(end).toMatchObject({ state: 'CANCELLED', summary: null, report: null })
      expect(existsSync(join(store.runsDir, end.runId, 'reports/stuck_report.md'))).toBe(false)
      expect(states(events).at(-1)).toBe('CANCELLED')
      expect(of(events, 'milestone').at(-1)).toMatchObject({ milestone: 'cancelled' })
      if (phase !== 'in the analysis')
        expect(readFileSync(join(root, 'src/add.js'), 'utf8')).not.toContain('a - b')
    },
  )
})

test('an interrupted edit is continued with a note in the prompt, and forbidden changes are put back', async () => {
  const { root, top, run, store } = lab({
    files: { 'sneak.mjs': sneak("['agent', 'yaml'].join('.')") },
    edits: [[tested(1), { run: 'node sneak.mjs' }, { wait: '60s' }]],
  })
  const controller = new AbortController()
  let runId = ''
  let results = 0
  const left = run(
    {},
    {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'task_started') runId = event.run_id
        if (event.kind === 'agent' && event.event.event === 'tool_result') results += 1
        if (results === 2) controller.abort(shutdown)
      },
    },
  )
  await expect(left).rejects.toMatchObject({ code: 'INTERRUPTED' })
  writeFileSync(join(root, 'agent.yaml'), 'sneaked again')
  const scripts = [{ when: { prompt_contains: 'was cut off' }, turns: [sum('+')] }]
  writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts }))
  const { end, events } = await run({ resumed: true, taskRunId: runId })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1, runId })
  expect(existsSync(join(root, 'test/more.test.js'))).toBe(true)
  expect(readFileSync(join(root, 'agent.yaml'), 'utf8')).toContain('container_image')
  expect(end.summary).toContain('agent.yaml, which was put back')
  // The replaced content is not lost.
  const kept = readFileSync(join(store.runsDir, runId, 'reports/put-back-1.patch'), 'utf8')
  expect(kept).toContain('+sneaked again')
  expect(events.filter(({ kind }) => kind === 'scout_query')).toEqual([])
})

describe('messages of the user', () => {
  test('one that comes when the steps have passed gets a turn of its own, and is verified', async () => {
    const { top, run, store } = lab({ edits: [[sum('+'), tested(1)]] })
    const scripts = [
      {
        when: { prompt_contains: '- Say so in NOTES.' },
        turns: [write('NOTES', 'plus\n'), { say: 'Noted.' }],
      },
    ]
    const turns = [sum('+'), tested(1)]
    writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts, turns }))
    const messages: string[] = []
    const { end, events } = await run(
      {},
      {
        messages: () => messages,
        onEvent: (event) => {
          if (event.kind === 'verifier_trigger' && messages.length === 0) messages.push('Say so in NOTES.')
        },
      },
    )
    expect(end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
    expect(states(events).slice(-4)).toEqual(['VERIFYING', 'DEBUGGING', 'VERIFYING', 'COMPLETED'])
    expect(reportOf(store, end, 'changes.patch')).toContain('+plus')
  })

  test('the Editor asks both Scouts at once, and sees their answers', async () => {
    const { top, run } = lab({ edits: [] })
    const words = 'Scout B was asked: How is it tested?'
    const scripts = [{ when: { prompt_contains: words }, turns: [sum('+'), tested(1), { say: 'Done.' }] }]
    const turns = [{ say: 'I am not sure.\nSCOUT A: Where is the sum?\nSCOUT B: How is it tested?' }]
    writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts, turns }))
    const { end, events } = await run()
    expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
    const asked = events.flatMap((event) => {
      if (event.kind === 'scout_query') return [`${event.scout}: ${event.summary}`]
      return event.kind === 'milestone' && event.milestone.startsWith('scout') ? [event.milestone] : []
    })
    expect(asked.slice(4, 6)).toEqual(['scout_a', 'scout_b'])
    expect(asked.slice(6).sort()).toEqual(['scout_a: Where is the sum?', 'scout_b: How is it tested?'])
  })

  test.each([
    ['answers', ['Use plus.'], 'The answer is the last message'],
    ['does not answer', [], 'There was no answer in time'],
  ])('a question of the Editor waits for the user, who %s', async (_, answers, words) => {
    const { top, run } = lab({ edits: [] })
    const scripts = [{ when: { prompt_contains: words }, turns: [sum('+'), tested(1), { say: 'Done.' }] }]
    const turns = [{ say: 'I am not sure.\nQUESTION: Plus or minus?' }]
    writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts, turns }))
    const messages: string[] = []
    const { end, events } = await run(
      { answerTimeoutMs: answers.length === 0 ? 50 : 60_000 },
      {
        messages: () => messages,
        onEvent: (event) => {
          if (event.kind === 'question') messages.push(...answers)
        },
      },
    )
    expect(of(events, 'question')).toMatchObject([{ text: 'Plus or minus?' }])
    const late = of(events, 'note').filter(({ message }) => message.startsWith('No answer in time'))
    expect(late).toHaveLength(answers.length === 0 ? 1 : 0)
    expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1 })
  })
})

test('a task that an earlier version began in the tree of the user is finished there', async () => {
  const { root, run } = lab({ edits: [[sum('+'), tested(1)]] })
  const controller = new AbortController()
  let runId = ''
  const left = run(
    { here: true },
    {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'task_started') runId = event.run_id
        if (event.kind === 'milestone' && event.milestone === 'analyzed') controller.abort(shutdown)
      },
    },
  )
  await expect(left).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const { end } = await run({ here: false, resumed: true, taskRunId: runId })
  expect(end).toMatchObject({ state: 'SUCCESS', runId })
  expect(readFileSync(join(root, 'src/add.js'), 'utf8')).toContain('a + b')
})

const changedTest = write(
  'test/add.test.js',
  "import assert from 'node:assert'\nimport test from 'node:test'\nimport { add } from '../src/add.js'\ntest('adds', () => assert.equal(add(1, 2), 3))\ntest('adds zero', () => assert.equal(add(1, 0), 1))\n",
)
const noted = {
  scripts: [{ when: { prompt_contains: '- Say so in NOTES.' }, turns: [write('NOTES', 'plus\n')] }],
  turns: [sum('+'), changedTest],
}
const isWithOldTests = (event: TaskEvent): boolean =>
  event.kind === 'note' && event.message.startsWith('Running the steps with')

test('a message that comes while the old tests run gets its turn', async () => {
  const { top, run, store } = lab({ edits: [] })
  writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', ...noted }))
  const messages: string[] = []
  const onEvent = (event: TaskEvent): void => {
    if (isWithOldTests(event) && messages.length === 0) messages.push('Say so in NOTES.')
  }
  const { end } = await run({ here: false }, { messages: () => messages, onEvent })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(reportOf(store, end, 'changes.patch')).toContain('+plus')
})

/** It dies when the steps have run on the old tests. */
const dying = `
  import { labAt } from '${join(import.meta.dirname, '../../test/support/task-lab.ts')}'
  import { writeFileSync } from 'node:fs'
  let isLate = false
  await labAt(process.argv[1]).run({ here: false }, {
    onEvent: (event) => {
      if (event.kind === 'task_started') writeFileSync(process.argv[1] + '/run-id', event.run_id)
      isLate ||= event.kind === 'note' && event.message.startsWith('Running the steps with')
      if (isLate && event.kind === 'verifier_output') process.kill(process.pid, 'SIGKILL')
    },
  })
`

test('a task that died with the old tests in its tree goes on with the new ones', async () => {
  const { top, run, store } = lab({ edits: [] })
  writeFileSync(join(top, 'editor.yaml'), JSON.stringify({ name: 'e', ...noted }))
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', dying, top])
  expect(signal).toBe('SIGKILL')
  const runId = readFileSync(join(top, 'run-id'), 'utf8')
  const tested = join(store.runsDir, runId, 'workspace/test/add.test.js')
  expect(readFileSync(tested, 'utf8')).not.toContain('adds zero')
  const messages = () => ['Say so in NOTES.']
  const { end } = await run({ here: false, resumed: true, taskRunId: runId }, { messages })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 2 })
  expect(reportOf(store, end, 'changes.patch')).toContain('+plus')
  expect(reportOf(store, end, 'changes.patch')).toContain('adds zero')
})
