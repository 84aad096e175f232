import { existsSync } from 'node:fs'
import process from 'node:process'
import { expect, test } from 'vitest'
import { isAlive } from '../../support/is-alive.ts'
import { program } from '../../support/program.ts'
import { startGantry } from '../support/gantry.ts'
import {
  afterwards,
  aTask,
  envOf,
  eventsOf,
  letGo,
  makeRepository,
  only,
  phases,
  readEvents,
  runPath,
  snapshots,
  startTask,
  sum,
  task,
  tasks,
  tested,
  until,
  waitingRun,
  waitingStep,
  write,
} from './lab.ts'
import { openModel } from './model.ts'

test.concurrent('a cancel by another process stops a task in every phase, keeps its changes, and lets the next one start', async () => {
  const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
  // Every edit is a new one, and only that of the last task is right.
  const model = await openModel({
    edits: (number, prompt) => [
      prompt.includes('task 6') ? sum('+') : sum(`- ${number} -`),
      write(`partial-${number}.txt`, 'kept\n'),
      tested(number),
    ],
  })
  const submit = async (number: number): Promise<string> => {
    const flags = ['--no-start', '--sandbox', 'bubblewrap', '--apply', '--json']
    const argv = ['submit', ...flags, `Fix the sum, task ${number}.`]
    const { stdout, stderr } = await task(project, model, argv)
    expect(stderr).toBe('')
    return (JSON.parse(stdout) as { id: string }).id
  }
  const ids: string[] = []
  for (let number = 1; number <= 6; number += 1) ids.push(await submit(number))
  // Asked for before anybody can come by: each is the first of its kind that is reached.
  const held = {
    scoutB: model.hold('scout_b'),
    edit: model.hold('editor', 2),
    diagnosis: model.hold('diagnosis'),
    strategy: model.hold('strategy'),
  }
  const worker = startTask(project, model, ['work'])
  const through = async (times: number): Promise<void> => {
    for (let done = 0; done < times; done += 1) letGo(project, await waitingRun(project))
  }
  /** Brings the task that runs into its phase. */
  const reach: Readonly<Record<string, () => Promise<unknown>>> = {
    ANALYZING: () => held.scoutB,
    IMPLEMENTING: () => held.edit,
    VERIFYING: () => waitingRun(project),
    DEBUGGING: () => Promise.all([through(1), held.diagnosis]),
    REPLANNING: () => Promise.all([through(3), held.strategy]),
  }
  let number = 0
  for (const [phase, come] of Object.entries(reach)) {
    const id = ids[number] ?? ''
    await come()
    const [running] = (await tasks(project)).filter(({ state }) => state === 'RUNNING')
    expect(running).toMatchObject({ id, phase })
    const { stdout } = await task(project, null, ['cancel'])
    expect(stdout).toContain(`${id} is being stopped`)
    await until(
      async () => (await tasks(project)).find((each) => each.id === id)?.state === 'CANCELLED',
      `the end of ${phase}`,
    )
    const events = await eventsOf(project, id)
    expect(phases({ events }).slice(-2)).toEqual([phase, 'CANCELLED'])
    expect(events.at(-1)).toMatchObject({
      kind: 'task_ended',
      state: 'CANCELLED',
      report: null,
      summary: null,
    })
    number += 1
  }
  await through(1)
  const { code } = await worker.ended
  expect(code).toBe(0)
  const all = await tasks(project)
  expect(all.map(({ id, state }) => [id, state]).sort()).toEqual(
    ids.map((id, index) => [id, index === 5 ? 'SUCCESS' : 'CANCELLED']).sort(),
  )
  // The second task was cut off between two turns of its Editor: what the first turn wrote is kept, and not in the tree.
  expect((await task(project, null, ['show', ids[1] ?? '', '--diff'])).stdout).toContain('partial-1.txt')
  expect(existsSync(project.path('partial-1.txt'))).toBe(false)
  expect(project.read('src/add.js')).toContain('a + b')
  expect(snapshots(project).length).toBeGreaterThan(0)
})

test.concurrent('Ctrl-C cancels the task that is run, ends its step and exits with 130', async () => {
  const project = makeRepository({ steps: [waitingStep] })
  const model = await openModel({ edits: () => [sum('*'), tested()] })
  const { child, ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', '--json', aTask])
  const run = await waitingRun(project)
  child.kill('SIGINT')
  const result = await ended
  expect(result.code, result.stderr).toBe(130)
  const { end, events } = readEvents(result)
  expect(end).toMatchObject({ state: 'CANCELLED', report: null })
  expect(only({ events }, 'milestone').at(-1)).toMatchObject({ milestone: 'cancelled' })
  expect(project.read('src/add.js')).toContain('a - b')
  expect((await task(project, null, ['show', end.task_id, '--diff'])).stdout).toContain('a * b')
  expect(existsSync(runPath(project, run, 'artifacts', 'go'))).toBe(false)
  expect(isAlive(child.pid ?? 0)).toBe(false)
})

test.concurrent('Ctrl-C with --here says that the changes are in the tree, and which, also while the Editor works', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('*'), tested()] })
  const held = model.hold('editor', 2)
  const { child, ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', '--here', aTask])
  await held
  child.kill('SIGINT')
  const { code, stdout } = await ended
  expect([code, project.read('src/add.js').includes('a * b')]).toEqual([130, true])
  expect(stdout).toContain('What was changed so far is in your tree.')
  expect((await task(project, null, ['show', 'latest', '--diff'])).stdout).toContain('a * b')
})

test.concurrent('Ctrl-C cancels the task that gantry boundary serve started, and both exit with 130', async () => {
  const project = makeRepository({
    files: { 'model.yaml': 'turns:\n  - { delay_ms: 300000, text: late }\n' },
  })
  const inner = ['task', 'run', '--sandbox', 'bubblewrap', aTask]
  const argv = ['boundary', 'serve', '--script', 'model.yaml', '--', process.execPath, program, ...inner]
  // A terminal sends the signal to both.
  const { child, ended } = startGantry(project, argv, { env: envOf(project, null) }, ['setsid'])
  afterwards(() => child.kill('SIGKILL'))
  await until(async () => (await tasks(project))[0]?.phase === 'ANALYZING', 'a question to a Scout')
  process.kill(-(child.pid ?? 0), 'SIGINT')
  const { code, stdout, stderr } = await ended
  expect(code, stderr).toBe(130)
  expect(stdout).toContain('CANCELLED')
  expect((await tasks(project))[0]).toMatchObject({ state: 'CANCELLED' })
})

test.concurrent('a queued task is cancelled by its position and stays visible; one that ended cannot be cancelled', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  const submit = (text: string) =>
    task(project, model, ['submit', '--no-start', '--sandbox', 'bubblewrap', text])
  await submit('Fix the first sum.')
  await submit('Fix the second sum.')
  const [first, second] = await tasks(project)
  expect((await task(project, null, ['cancel', '1'])).stdout).toContain('was cancelled')
  expect(await tasks(project)).toMatchObject([
    { id: second?.id, position: 1 },
    { id: first?.id, state: 'CANCELLED', position: null },
  ])
  expect((await eventsOf(project, first?.id ?? '')).at(-1)).toMatchObject({
    kind: 'task_ended',
    state: 'CANCELLED',
  })
  expect((await task(project, null, ['cancel'])).stderr).toContain('no task is running')
  await task(project, model, ['work'])
  const gone = await task(project, null, ['cancel', second?.id ?? ''])
  expect(gone.code).toBe(2)
  expect(gone.stderr).toMatch(/ended|SUCCESS/)
})
