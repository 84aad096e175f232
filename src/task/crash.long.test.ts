import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Lab, type LabOptions, openLab, sum, tested } from '../../test/support/task-lab.ts'
import type { TaskEvent } from './contract.ts'
import { shutdown, type TaskEnd, type TaskRequest } from './task-request.ts'

const labs: Lab[] = []
afterEach(() => {
  for (const lab of labs.splice(0)) lab[Symbol.dispose]()
})

/** A process of its own that works on the task and is killed by itself, hard, after so many events. */
const worker = `
  import { writeFileSync, appendFileSync } from 'node:fs'
  import { join } from 'node:path'
  import { labAt } from '${join(import.meta.dirname, '../../test/support/task-lab.ts')}'
  const [top, kill, runId] = process.argv.slice(1)
  const lab = labAt(top)
  let left = Number(kill)
  const change = runId === '' ? {} : { resumed: true, taskRunId: runId }
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

test('killed hard again and again, a task comes to its end, with nothing paid or counted twice', {
  timeout: 300_000,
}, async () => {
  const lab = openLab(scenario)
  labs.push(lab)
  let kills = 0
  for (; !existsSync(join(lab.top, 'end.json')); kills += 1) {
    expect(kills).toBeLessThan(60)
    await work(lab.top, 9)
  }
  expect(kills).toBeGreaterThan(4)
  check(lab, JSON.parse(readFileSync(join(lab.top, 'end.json'), 'utf8')))
})

test('left by its worker after every single thing it tells, a task comes to the same end', {
  timeout: 300_000,
}, async () => {
  const lab = openLab(scenario)
  labs.push(lab)
  let end: TaskEnd | null = null
  let runId: string | null = null
  let times = 0
  const begun = new Set<number>()
  for (; end === null; times += 1) {
    expect(times).toBeLessThan(120)
    const controller = new AbortController()
    const change: Partial<TaskRequest> = runId === null ? {} : { resumed: true, taskRunId: runId }
    end = await lab
      .run(change, {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.kind === 'task_started') runId = event.run_id
          // These are different every time, so that it would never get past them.
          const isNew = event.kind !== 'verifier_trigger' || !begun.has(event.attempt)
          if (event.kind === 'verifier_trigger') begun.add(event.attempt)
          if (event.kind !== 'agent' && event.kind !== 'verifier_output' && isNew) controller.abort(shutdown)
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
  check(lab, end)
})

test('an edit that was cut off is continued by an Editor that is told so, and what it broke is put back', async () => {
  const sneak =
    "import { writeFileSync as put } from 'node:fs'\nput(['agent', 'yaml'].join('.'), 'sneaked')\n"
  const lab = openLab({
    files: { 'sneak.mjs': sneak },
    edits: [[tested(1), { run: 'node sneak.mjs' }, { wait: '60s' }]],
  })
  labs.push(lab)
  const controller = new AbortController()
  let runId = ''
  let results = 0
  const left = lab.run(
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
  writeFileSync(join(lab.root, 'agent.yaml'), 'sneaked again')
  const scripts = [{ when: { prompt_contains: 'was cut off' }, turns: [sum('+')] }]
  writeFileSync(join(lab.top, 'editor.yaml'), JSON.stringify({ name: 'e', scripts }))
  const { end, events } = await lab.run({ resumed: true, taskRunId: runId })
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 1, runId })
  expect(existsSync(join(lab.root, 'test/more.test.js'))).toBe(true)
  expect(readFileSync(join(lab.root, 'agent.yaml'), 'utf8')).toContain('container_image')
  expect(end.summary).toContain('agent.yaml, which was put back')
  // What was put back is not lost.
  const kept = readFileSync(join(lab.store.runsDir, runId, 'reports/put-back-1.patch'), 'utf8')
  expect(kept).toContain('+sneaked again')
  expect(events.filter(({ kind }) => kind === 'scout_query')).toEqual([])
})

/** Two Scouts, two diagnoses and a strategy; four verifications, one REPLAN, three snapshots: as if nothing had happened. */
function check(lab: Lab, end: TaskEnd): void {
  expect(end).toMatchObject({ state: 'SUCCESS', attempts: 4, replans: 1 })
  expect(end.runIds).toHaveLength(4)
  const calls = readFileSync(join(lab.top, 'model-calls.log'), 'utf8').trim().split('\n')
  expect(calls).toHaveLength(5)
  const papers = readdirSync(join(lab.root, 'agent')).filter((name) => /^context_\d+\.md$/.test(name))
  expect(papers).toHaveLength(3)
  expect(readFileSync(join(lab.root, 'src/add.js'), 'utf8')).toContain('a + b')
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

function work(top: string, kill: number): Promise<void> {
  const id = join(top, 'run-id')
  const runId = existsSync(id) ? readFileSync(id, 'utf8') : ''
  const child = spawn(process.execPath, ['--input-type=module', '-e', worker, top, String(kill), runId], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(top, 'compiled') },
  })
  return new Promise((done) => child.on('exit', () => done()))
}
