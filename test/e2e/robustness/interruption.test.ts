import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, startGantry } from '../support/gantry.ts'
import { makeProject, smallScenario, type TestProject } from '../support/project.ts'
import {
  linesOf,
  manifestOf,
  onlyRun,
  processesOf,
  runIds,
  runPath,
  shellAgent,
  until,
  verdictsOf,
} from './lab.ts'

/** Says that it was reached and waits, unless the way is free. `$PLACE` is the project. */
const wait = '[ -e "$PLACE/free" ] || { echo > "$PLACE/reached"; sleep 300; }'

const judged = {
  gates: [{ type: 'file_exists', path: 'done.txt' }],
  judge: { enabled: true, rubric: 'rubric.yaml', pass_threshold: 0.5, samples: 2 },
}

const good = { json: { scores: { a: 1 }, confidence: 1, issues: [], highlights: [] } }

interface Stage {
  /** Keys of the second scenario: it waits in one of its stages. The first one passes quickly. */
  readonly scenario?: Record<string, unknown>
  /** Where the agent waits, when it is the one. */
  readonly agent?: string
  readonly argv?: readonly string[]
  /** How often the agent of the second scenario is started in all. */
  readonly starts: number
  readonly reached?: (project: TestProject) => boolean
}

const stages: Record<string, Stage> = {
  'during set-up': { scenario: { setup: { commands: [wait] } }, starts: 1 },
  'during the health check': {
    scenario: { target: { binary: 'sh', health_check: wait, env: { PLACE: '$PLACE' } } },
    starts: 1,
  },
  'while the agent runs': { agent: wait, starts: 2 },
  'while the agent ignores every signal': { agent: `trap '' TERM INT HUP; ${wait}`, starts: 2 },
  'during a post script': { scenario: { scripts: { post: [{ command: wait }] } }, starts: 1 },
  'during a gate': {
    scenario: { evaluation: { gates: [{ type: 'command_succeeds', command: wait, timeout_secs: 600 }] } },
    starts: 1,
  },
  'during a script gate': {
    scenario: { evaluation: { gates: [{ type: 'script', command: wait, description: 'waits' }] } },
    starts: 1,
  },
  'during an evaluator': {
    scenario: { scripts: { evaluators: [{ name: 'e', command: wait, timeout_secs: 600 }] } },
    starts: 1,
  },
  'while the judge thinks about its second sample': {
    scenario: { evaluation: judged },
    argv: ['--judge-model', 'scripted:judge.yaml'],
    starts: 1,
    reached: (project) =>
      existsSync(
        runPath(project, onlyRun(project), 'trials/0002-second-worker-default-1/checkpoint-judge-1.json'),
      ),
  },
}

function stagedProject({ scenario = {}, agent = ':' }: Stage): TestProject {
  const project = makeProject()
  const place = { PLACE: project.dir }
  const target = { binary: 'sh', env: place }
  const second = smallScenario({ target, ...scenario, name: 'second' })
  if (scenario.target !== undefined) second.target = { ...(scenario.target as object), env: place }
  project.write({
    'gantry.yaml': shellAgent(),
    'agent.sh': `echo "$GANTRY_SCENARIO" >> "$PLACE/starts"
[ "$GANTRY_SCENARIO" = first ] || { ${agent}; }
echo > done.txt
`,
    'rubric.yaml': { criteria: [{ id: 'a', weight: 1, description: 'x' }] },
    'judge.yaml': { answers: [good, { ...good, delay_ms: 300_000 }] },
    'scenarios/1.yaml': smallScenario({ target, name: 'first' }),
    'scenarios/2.yaml': second,
    'fixtures/template/AGENTS.md': 'x\n',
  })
  return project
}

function startsOf(project: TestProject, name: string): number {
  return linesOf(project.path('starts')).filter((line) => line === name).length
}

describe('Ctrl-C', () => {
  test.concurrent.each(Object.entries(stages))(
    '%s ends with 130, keeps what is finished, and the run can go on',
    async (_when, stage) => {
      using project = stagedProject(stage)
      const argv = ['test', '-j', '1', '--no-cache', ...(stage.argv ?? [])]
      const { child, ended } = startGantry(project, argv)
      await until('the stage is reached', () =>
        stage.reached !== undefined && runIds(project).length === 1
          ? stage.reached(project)
          : existsSync(project.path('reached')),
      )
      child.kill('SIGINT')
      const { code, stdout, stderr } = await ended
      expect(stderr).not.toMatch(/bug:|\n {4}at /)
      expect(code).toBe(130)
      const id = onlyRun(project)
      expect(stdout).toContain(`gantry test --resume ${id}`)
      expect(processesOf(project)).toEqual([])
      expect(manifestOf(project, id)).toMatchObject({
        status: 'interrupted',
        totals: { trials: 1, not_run: 1, counts: { pass: 1 } },
      })

      writeFileSync(project.path('free'), '')
      // What was paid for is not asked again: one more answer is all there is.
      project.write({ 'judge.yaml': { answers: [good] } })
      const resumed = await gantryTest(project, ['--resume', id])
      expect(verdictsOf(resumed)).toEqual(['pass', 'pass'])
      expect(resumed).toMatchObject({ code: 0, run_id: id, stderr: '' })
      expect(startsOf(project, 'first')).toBe(1)
      expect(startsOf(project, 'second')).toBe(stage.starts)
      expect(manifestOf(project, id)).toMatchObject({ status: 'pass', totals: { trials: 2, not_run: 0 } })
    },
  )

  test.concurrent('before the first trial ends with 130 and leaves nothing behind', async () => {
    using project = stagedProject({ starts: 0 })
    project.write({
      'gantry.yaml': shellAgent({ version_command: ['sh', './version.sh'], env: { PLACE: project.dir } }),
      'version.sh': `${wait}; echo 1`,
    })
    const { child, ended } = startGantry(project, ['test'])
    await until('the probe is reached', () => existsSync(project.path('reached')))
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect(code).toBe(130)
    expect(processesOf(project)).toEqual([])
    expect(startsOf(project, 'first')).toBe(0)
  })

  test.concurrent('twice ends at once, even when the agent ignores every signal', async () => {
    using project = stagedProject({ agent: `trap '' TERM INT HUP; ${wait}`, starts: 2 })
    const { child, ended } = startGantry(project, ['test', '-j', '1', '--no-cache'])
    await until('the agent runs', () => existsSync(project.path('reached')))
    child.kill('SIGINT')
    await sleep(50)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect(code).toBe(130)
    await until('nothing is alive', () => processesOf(project).length === 0)
    writeFileSync(project.path('free'), '')
    // The latest run of `gantry test`, not of another command.
    mkdirSync(join(project.store, 'runs/run_29990101_000000_aaaaaa'))
    const resumed = await gantryTest(project, ['--resume', 'latest'])
    expect(verdictsOf(resumed)).toEqual(['pass', 'pass'])
    expect(startsOf(project, 'first')).toBe(1)
  })

  test.concurrent.each(['SIGTERM', 'SIGHUP'] as const)('%s is heard in the same way', async (signal) => {
    using project = stagedProject({ agent: wait, starts: 2 })
    const { child, ended } = startGantry(project, ['test', '-j', '1', '--no-cache'])
    await until('the agent runs', () => existsSync(project.path('reached')))
    child.kill(signal)
    expect((await ended).code).toBe(130)
    expect(processesOf(project)).toEqual([])
    expect(manifestOf(project, onlyRun(project))).toMatchObject({ status: 'interrupted' })
  })

  test.concurrent('between and among many trials loses none of the finished ones', async () => {
    using project = stagedProject({ starts: 1 })
    rmSync(project.path('scenarios/2.yaml'))
    const { child, ended } = startGantry(project, ['test', '--repeat', '24', '--no-cache', '--json'])
    await until('some trials are done', () => linesOf(project.path('starts')).length >= 7)
    child.kill('SIGINT')
    const { code, stdout } = await ended
    expect(code).toBe(130)
    const document = JSON.parse(stdout) as { run_id: string; summary: { notRun: number }; trials: unknown[] }
    expect(document.trials.length + document.summary.notRun).toBe(24)
    const id = onlyRun(project)
    const finished = new Set(
      linesOf(runPath(project, id, 'trials.jsonl')).map((line) => (JSON.parse(line) as { id: string }).id),
    )
    expect(finished.size).toBe(document.trials.length)
    const resumed = await gantryTest(project, ['--resume', id])
    expect(resumed.trials).toHaveLength(24)
    expect(new Set(resumed.trials.map((trial) => trial.attempt)).size).toBe(24)
    expect(resumed.summary).toMatchObject({ counts: { pass: 24 }, notRun: 0, verdict: 'pass' })
    // Besides the finished ones only those under way at that moment, two at most, were started twice.
    expect(linesOf(project.path('starts')).length).toBeLessThanOrEqual(26)
  })

  test.concurrent('while the graders are checked ends with 130', async () => {
    using project = stagedProject({ scenario: { setup: { commands: [wait] } }, starts: 0 })
    const { child, ended } = startGantry(project, ['scenario', 'check', 'scenarios/2.yaml'])
    await until('the set-up is reached', () => existsSync(project.path('reached')))
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(stderr).not.toMatch(/bug:|\n {4}at /)
    expect(code).toBe(130)
    expect(processesOf(project)).toEqual([])
  })
})

describe('a run that is to be resumed', () => {
  async function interrupted(): Promise<{ readonly project: TestProject; readonly id: string }> {
    const project = stagedProject({ agent: wait, starts: 2 })
    const { child, ended } = startGantry(project, ['test', '-j', '1', '--no-cache'])
    await until('the agent runs', () => existsSync(project.path('reached')))
    child.kill('SIGINT')
    await ended
    writeFileSync(project.path('free'), '')
    return { project, id: onlyRun(project) }
  }

  test.concurrent.each<[string, (project: TestProject) => void, RegExp]>([
    [
      'a scenario',
      (project) =>
        project.write({
          'scenarios/2.yaml': project.read('scenarios/2.yaml').replace('Write done.txt.', 'Write it.'),
        }),
      /'second' with worker has changed since it started/,
    ],
    [
      'a template',
      (project) => project.write({ 'fixtures/template/new': 'x' }),
      /has changed since it started/,
    ],
    ['the agent', (project) => project.write({ 'agent.sh': 'echo other\n' }), /has changed since it started/],
    [
      'the number of scenarios',
      (project) => rmSync(project.path('scenarios/2.yaml')),
      /its plan has changed since it started/,
    ],
  ])('after %s was changed is refused, and stays as it was', async (_what, change, message) => {
    const { project, id } = await interrupted()
    using _ = project
    const before = readFileSync(runPath(project, id, 'manifest.json'), 'utf8')
    change(project)
    const { code, stderr } = await gantry(project, ['test', '--resume', id])
    expect(stderr).toMatch(message)
    expect(stderr).toMatch(/\nhint: {2}A run must not mix results of two versions\./)
    expect(code).toBe(2)
    expect(JSON.parse(readFileSync(runPath(project, id, 'manifest.json'), 'utf8'))).toMatchObject({
      status: (JSON.parse(before) as { status: string }).status,
      timestamp_end: (JSON.parse(before) as { timestamp_end: string }).timestamp_end,
    })
    expect(startsOf(project, 'second')).toBe(1)
  })

  test.concurrent('by two processes at once is given to one of them', async () => {
    const { project, id } = await interrupted()
    using _ = project
    rmSync(project.path('free'))
    rmSync(project.path('reached'))
    const first = startGantry(project, ['test', '--resume', id, '--json'])
    await until('the agent runs', () => existsSync(project.path('reached')))
    const second = await gantry(project, ['test', '--resume', id])
    expect(second.stderr).toContain(
      `error: process ${first.child.pid} is working on run ${id}\nhint:  Wait until it is done, or stop that process.`,
    )
    expect(second.code).toBe(3)
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(130)
  })

  test.concurrent('of a finished run runs nothing again and reports the same', async () => {
    const { project, id } = await interrupted()
    using _ = project
    const first = await gantryTest(project, ['--resume', id])
    const again = await gantryTest(project, ['--resume', id])
    expect(again.trials).toEqual(first.trials)
    expect(again.code).toBe(0)
    expect(startsOf(project, 'second')).toBe(2)
  })
})
