import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Lab, type LabOptions, openLab, sum, tested } from '../../test/support/task-lab.ts'
import type { TaskEvent } from './contract.ts'
import { shutdown, type TaskEnd, type TaskRequest } from './task-request.ts'

const labs: Lab[] = []
afterEach(() => {
  for (const lab of labs.splice(0)) lab[Symbol.dispose]()
})

/** A process that works on the task and kills itself with SIGKILL after this many events. */
const worker = `
  import { writeFileSync, appendFileSync } from 'node:fs'
  import { join } from 'node:path'
  import { labAt } from '${join(import.meta.dirname, '../../test/support/task-lab.ts')}'
  const [top, kill, runId, here] = process.argv.slice(1)
  const lab = labAt(top)
  let left = Number(kill)
  const tree = { here: here === 'true' }
  const change = runId === '' ? tree : { ...tree, resumed: true, taskRunId: runId }
  const { end } = await lab.run(change, {
    onEvent: (event) => {
      appendFileSync(join(top, 'feed.jsonl'), JSON.stringify(event) + '\\n')
      if (event.kind === 'task_started') writeFileSync(join(top, 'run-id'), event.run_id)
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
    },
  })
  writeFileSync(join(top, 'end.json'), JSON.stringify(end))
`

const scenario: LabOptions = {
  edits: [[sum('*'), tested(1)], [sum('/')], [sum('%')], [sum('+')]],
  strategies: ['Another way.'],
}

test.each([true, false])(
  'a task whose process is killed repeatedly still ends, with nothing paid or counted twice (here: %s)',
  {
    timeout: 600_000,
  },
  async (here) => {
    const lab = openLab(scenario)
    labs.push(lab)
    let kills = 0
    for (; !existsSync(join(lab.top, 'end.json')); kills += 1) {
      expect(kills).toBeLessThan(60)
      await work(lab.top, 9, here)
    }
    expect(kills).toBeGreaterThan(4)
    check(lab, JSON.parse(readFileSync(join(lab.top, 'end.json'), 'utf8')), here)
  },
)

test.each([true, false])(
  'a task whose worker stops after every single event ends the same way (here: %s)',
  {
    timeout: 600_000,
  },
  async (here) => {
    const lab = openLab(scenario)
    labs.push(lab)
    let end: TaskEnd | null = null
    let runId: string | null = null
    let times = 0
    const begun = new Set<number>()
    for (; end === null; times += 1) {
      expect(times).toBeLessThan(120)
      const controller = new AbortController()
      const change: Partial<TaskRequest> =
        runId === null ? { here } : { here, resumed: true, taskRunId: runId }
      end = await lab
        .run(change, {
          signal: controller.signal,
          onEvent: (event) => {
            if (event.kind === 'task_started') runId = event.run_id
            // These differ every time, so the task would never get past them.
            const isNew = event.kind !== 'verifier_trigger' || !begun.has(event.attempt)
            if (event.kind === 'verifier_trigger') begun.add(event.attempt)
            if (event.kind !== 'agent' && event.kind !== 'verifier_output' && isNew)
              controller.abort(shutdown)
          },
        })
        .then(
          (run) => run.end,
          (error: unknown) => {
            expect(error).toMatchObject({ code: 'INTERRUPTED' })
            return null
          },
        )
    }
    expect(times).toBeGreaterThan(10)
    check(lab, end, here)
  },
)

/** Two Scouts, two diagnoses, a strategy, four verifications, one REPLAN, three snapshots: the same as without a crash. */
function check(lab: Lab, end: TaskEnd, here: boolean): void {
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 4, replans: 1 })
  expect(end.runIds).toHaveLength(4)
  const calls = readFileSync(join(lab.top, 'model-calls.log'), 'utf8').trim().split('\n')
  expect(calls).toHaveLength(5)
  const reports = readdirSync(join(lab.store.runsDir, end.runId, 'reports'))
  expect(reports.filter((name) => /^context_\d+\.md$/.test(name))).toHaveLength(3)
  expect(readFileSync(join(lab.root, 'src/add.js'), 'utf8')).toContain(here ? 'a + b' : 'a - b')
  expect(readFileSync(join(lab.store.runsDir, end.runId, 'reports/changes.patch'), 'utf8')).toContain('a + b')
  expect(reports.includes('proposal.json')).toBe(!here)
  const events = readFileSync(join(lab.store.runsDir, end.runId, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line): TaskEvent => JSON.parse(line))
  const count = (kind: TaskEvent['kind']) => events.filter((event) => event.kind === kind).length
  expect(count('verifier_result')).toBe(4)
  expect(count('task_ended')).toBe(1)
  expect(count('scout_query')).toBe(4)
  expect(count('replan')).toBe(1)
  expect(count('snapshot')).toBe(3)
  const transitions = events.flatMap((event) => (event.kind === 'state_transition' ? [event.to] : []))
  expect(transitions.filter((to) => to === 'COMPLETED')).toHaveLength(1)
  expect(transitions.filter((to) => to === 'VERIFYING')).toHaveLength(4)
}

function work(top: string, kill: number, here: boolean): Promise<void> {
  const id = join(top, 'run-id')
  const runId = existsSync(id) ? readFileSync(id, 'utf8') : ''
  const argv = [top, String(kill), runId, String(here)]
  const child = spawn(process.execPath, ['--input-type=module', '-e', worker, ...argv], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(top, 'compiled') },
  })
  return new Promise((done) => child.on('exit', () => done()))
}
