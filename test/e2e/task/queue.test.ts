import { expect, test } from 'vitest'
import type { CliContext } from '../../../src/cli/context.ts'
import { runCli } from '../../../src/cli/main.ts'
import { gantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import {
  aTask,
  envOf,
  eventsOf,
  letGo,
  makeRepository,
  readEvents,
  startTask,
  sum,
  task,
  taskRun,
  tasks,
  tested,
  until,
  waitingRun,
  waitingStep,
  write,
} from './lab.ts'
import { openModel, type TestModel } from './model.ts'

test.concurrent('three tasks queued while one runs are done in their order, by the worker that is left behind', async () => {
  const project = makeRepository({ steps: [waitingStep] })
  const model = await openModel({ edits: (number) => [write(`done-${number}.txt`, 'x\n'), tested(number)] })
  const first = startTask(project, model, [
    'run',
    '--sandbox',
    'bubblewrap',
    '--json',
    'Write the file number 1.',
  ])
  let run = await waitingRun(project)
  for (const number of [2, 3, 4]) {
    const argv = ['submit', '--no-start', '--sandbox', 'bubblewrap', `Write the file number ${number}.`]
    const { stdout } = await task(project, model, argv)
    expect(stdout).toMatch(new RegExp(`is at position ${number - 1}\\.`))
  }
  const listed = await tasks(project)
  expect(listed.map(({ state, position }) => [state, position])).toEqual([
    ['RUNNING', null],
    ['QUEUED', 1],
    ['QUEUED', 2],
    ['QUEUED', 3],
  ])
  const ids = listed.map(({ id }) => id)
  letGo(project, run)
  expect((await first.ended).code).toBe(0)
  // Nobody started anything by hand: the first left a worker behind for the others.
  for (let left = 3; left > 0; left -= 1) {
    run = await waitingRun(project)
    const running = (await tasks(project)).filter(({ state }) => state === 'RUNNING')
    expect(running.map(({ id }) => id)).toEqual([ids[4 - left]])
    letGo(project, run)
  }
  await until(async () => (await tasks(project)).every(({ state }) => state === 'SUCCESS'), 'the end of all')
  const ended = (await tasks(project)).toSorted((a, b) =>
    (a.completed_at ?? '') < (b.completed_at ?? '') ? -1 : 1,
  )
  expect(ended.map(({ id }) => id)).toEqual(ids)
  for (let index = 1; index < ended.length; index += 1)
    expect((ended[index]?.started_at ?? '') >= (ended[index - 1]?.completed_at ?? '')).toBe(true)
})

test.concurrent('a submitted task is done in the background, and can be followed from anywhere', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const submit = ['submit', '--sandbox', 'bubblewrap', '--apply', '--json', aTask]
  const { code, stdout, stderr } = await startTask(project, model, submit).ended
  expect(code, stderr).toBe(0)
  const { id } = JSON.parse(stdout) as { id: string }
  const followed = await task(project, null, ['logs', id, '--follow', '--format', 'events'])
  expect(readEvents(followed).end).toMatchObject({ task_id: id, state: 'SUCCESS' })
  expect(project.read('src/add.js')).toContain('a + b')
})

test.concurrent('two task runs at once in the tree of the user take turns, and each prints its own progress', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: (number) => [sum('+'), tested(number)] })
  const results = await Promise.all(
    ['Fix the sum, first.', 'Fix the sum, second.'].map(async (text) => {
      const { ended } = startTask(project, model, [
        'run',
        '--sandbox',
        'bubblewrap',
        '--here',
        '--json',
        text,
      ])
      return ended
    }),
  )
  const ends = results.map((result) => readEvents(result).end)
  expect(ends.map(({ state }) => state)).toEqual(['SUCCESS', 'SUCCESS'])
  for (const [index, result] of results.entries())
    expect(new Set(readEvents(result).events.map(({ task_id }) => task_id))).toEqual(
      new Set([ends[index]?.task_id]),
    )
  const [a, b] = (await tasks(project)).toSorted((x, y) =>
    (x.started_at ?? '') < (y.started_at ?? '') ? -1 : 1,
  )
  expect((b?.started_at ?? '') >= (a?.completed_at ?? '')).toBe(true)
})

test.concurrent('list, show, logs, history and metrics show the same facts as text and as JSON', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: (number) => (number === 1 ? [sum('*'), tested()] : [sum('+')]) })
  const run = await taskRun(project, model)
  const id = run.end.task_id
  const say = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await task(project, null, argv)
    expect(code, stderr).toBe(0)
    return stdout
  }
  const list = await say('list')
  expect(list.split('\n')[0]).toMatch(/^TASK +STATE +ATTEMPT +TIME +REPOSITORY +WHAT$/)
  expect(list).toMatch(new RegExp(`^${id} +SUCCESS, applied +2/12 .* ${aTask}$`, 'm'))
  expect(await say('history')).toContain(id)
  const shown = await say('show', id.slice(-6))
  for (const words of ['SUCCESS', '2 of 12', ...run.end.run_ids, '# Task Completed', 'gantry task show'])
    expect(shown).toContain(words)
  const json = JSON.parse(await say('show', id, '--json')) as { task: object; summary: string }
  expect(json).toMatchObject({
    task: { id, state: 'SUCCESS', current_attempt: 2, dry_run: false, phase: null },
  })
  expect(json.summary).toBe(run.end.summary)
  expect(await say('show', id, '--report')).toBe(run.end.summary)
  const diff = await say('show', id, '--diff')
  expect(diff).toContain('+export const add = (a, b) => a + b')
  expect(diff).toContain('test/more.test.js')
  const log = await say('logs', id)
  for (const words of ['Verification failed, debugging... Attempt 1/12', 'FAIL', 'Attempt 2/12', 'SUCCESS:'])
    expect(log).toContain(words)
  expect(log).not.toContain('DEBUGGING')
  const details = await say('logs', id, '--verbose')
  for (const words of ['VERIFYING → DEBUGGING', '| 1 passed', 'tool_call write src/add.js'])
    expect(details).toContain(words)
  const structured = (await say('logs', id, '--format', 'log'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(structured.find(({ event_type }) => event_type === 'task_start')).toMatchObject({
    level: 'info',
    component: 'runner',
    task_id: id,
  })
  expect(structured.filter(({ event_type }) => event_type === 'verifier_result')).toHaveLength(2)
  expect(structured.at(-1)).toMatchObject({ event_type: 'task_end' })
  expect(await eventsOf(project, id)).toEqual(run.events)
  const metrics = JSON.parse(await say('metrics', '--json')) as object
  expect(metrics).toMatchObject({
    tasks: { total: 1, success_rate: 1, by_state: { SUCCESS: 1 } },
    verification: { attempts: 2, maximum: 2 },
    latency: { scout_a: { count: 1 }, scout_b: { count: 2 }, verifier: { count: 2 } },
  })
  expect(await say('metrics')).toContain('2, 2.0 per task, at most 2')
  expect(await say('metrics', '--prometheus')).toMatch(/^gantry_\w+\{?.*\} 1$/m)
  expect(await say('list', '--state', 'STUCK')).toContain('No tasks.')
  expect(JSON.parse(await say('list', '--root', project.dir, '--json'))).toMatchObject({
    tasks: [{ id }],
  })
  expect(await say('history', '--clear')).toBe('Forgot 1 ended task.\n')
  expect(await say('history')).toBe('No task has ended yet.\n')
  const gone = await task(project, null, ['show', id])
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining(`there is no task ${id}`)])
})

test.concurrent('a narrow terminal is kept to, a pipe gets plain lines, NO_COLOR is honoured', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const esc = String.fromCharCode(27)
  const onTerminal = await onTty(project, model, ['run', '--sandbox', 'bubblewrap', aTask], {
    columns: 40,
    color: true,
  })
  expect(onTerminal).toContain(`${esc}[`)
  const list = await onTty(project, null, ['list'], { columns: 40, color: true })
  const bare = list.replaceAll(new RegExp(`${esc}\\[[0-9;]*m`, 'g'), '')
  for (const line of bare.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40)
  expect(bare).toContain('SUCCESS')
  const piped = await startTask(project, model, ['list'], { FORCE_COLOR: '', NO_COLOR: '1' }).ended
  expect(piped.stdout).not.toContain(esc)
  const logs = await startTask(project, model, ['logs', (await tasks(project))[0]?.id ?? '']).ended
  expect(logs.stdout).not.toContain(esc)
})

test.concurrent('wrong flags and names are refused with exit code 2 and a hint', async () => {
  const project = makeRepository()
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['run'], /missing required argument/],
    [['run', '--sandbox', 'podman', aTask], /Allowed choices are auto, docker, bubblewrap, host/],
    [['run', '--max-cost-usd', 'much', aTask], /max-cost-usd/],
    [['run', '--max-cost-usd', '0', aTask], /max-cost-usd/],
    [['run', '--timeout', 'soon', aTask], /timeout/],
    [['run', '--nonsense', aTask], /unknown option/],
    [['list', '--state', 'DONE'], /Allowed choices/],
    [['list', '--limit', '-1'], /limit/],
    [['logs', 'x', '--format', 'xml'], /Allowed choices/],
    [['show', 'nothing'], /there is no task nothing/],
    [['show', '7'], /there is no task 7/],
    [['retry', 'nothing'], /there is no task nothing/],
    [['frobnicate'], /unknown command/],
  ]
  for (const [argv, message] of cases) {
    const { code, stderr, stdout } = await task(project, null, argv)
    expect([argv, code, stdout]).toEqual([argv, 2, ''])
    expect(stderr).toMatch(message)
  }
  expect((await gantry(project, ['task', '--help'])).stdout).toContain('submit')
  expect(await tasks(project)).toEqual([])
})

async function onTty(
  project: TestProject,
  model: TestModel | null,
  argv: readonly string[],
  { columns, color }: { readonly columns: number; readonly color: boolean },
): Promise<string> {
  const parts: string[] = []
  const stream = { write: (text: string) => void parts.push(text), isTTY: true, columns, color }
  const context: CliContext = {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      AGENT_ARTIFACT_DIR: project.store,
      ...envOf(project, model),
    },
    stdout: stream,
    stderr: stream,
    signal: new AbortController().signal,
    setExitCode: () => {},
  }
  await runCli(['task', ...argv], context)
  return parts.join('')
}
