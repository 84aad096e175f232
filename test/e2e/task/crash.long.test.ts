import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive } from '../../support/is-alive.ts'
import { gantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import {
  aTask,
  eventsOf,
  letGo,
  makeRepository,
  only,
  runPath,
  runsOf,
  snapshots,
  startTask,
  sum,
  task,
  taskRun,
  tasks,
  tested,
  waitingRun,
  waitingStep,
} from './lab.ts'
import { openModel, type Role, type TestModel } from './model.ts'

type Come = (model: TestModel, project: TestProject) => Promise<unknown>

const through = async (project: TestProject, times: number): Promise<void> => {
  for (let done = 0; done < times; done += 1) letGo(project, await waitingRun(project))
}

interface Death {
  readonly come: Come
  /** Calls that are answered in all, before and after: none that was answered before is asked again. */
  readonly paid: Readonly<Partial<Record<Role, number>>>
  readonly attempts: number
  readonly snapshots: number
}

/** Where the worker is when it is killed. Three changes are wrong, the fourth is right. */
const deaths: Readonly<Record<string, Death>> = {
  ANALYZING: {
    come: (model) => model.hold('scout_b'),
    paid: { scout_a: 1, scout_b: 1, editor: 2 },
    attempts: 1,
    snapshots: 2,
  },
  IMPLEMENTING: {
    come: (model) => model.hold('editor', 2),
    // The turn that was cut off is taken up by a fresh agent, which asks from its first call on.
    paid: { scout_a: 1, scout_b: 1, editor: 3 },
    attempts: 1,
    snapshots: 2,
  },
  VERIFYING: {
    come: (_, project) => waitingRun(project),
    paid: { scout_a: 1, scout_b: 1, editor: 2 },
    attempts: 1,
    snapshots: 2,
  },
  DEBUGGING: {
    come: async (model, project) => {
      const held = model.hold('diagnosis')
      await through(project, 1)
      await held
    },
    paid: { scout_a: 1, scout_b: 1, diagnosis: 1, editor: 4 },
    attempts: 2,
    snapshots: 2,
  },
  REPLANNING: {
    come: async (model, project) => {
      const held = model.hold('strategy')
      await through(project, 3)
      await held
    },
    paid: { scout_a: 1, scout_b: 1, diagnosis: 2, strategy: 1, editor: 8 },
    attempts: 4,
    snapshots: 3,
  },
}

const phasesOfDeath = Object.keys(deaths)

for (const [phase, tree] of phasesOfDeath.flatMap((each) => [
  [each, '--apply'],
  [each, '--here'],
])) {
  const death = deaths[phase ?? '']
  if (death === undefined || phase === undefined || tree === undefined) continue
  test.concurrent(`kill -9 while ${phase} with ${tree}: the next worker goes on, pays nothing twice, counts nothing twice, loses no change`, async () => {
    const project = makeRepository({ steps: [waitingStep, 'sh check.sh'] })
    const wrong = death.attempts - 1
    const model = await openModel({
      edits: (number) => [sum(number <= wrong ? `- ${number} -` : '+'), tested(number)],
    })
    const { child, ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', tree, aTask])
    await death.come(model, project)
    const before = await tasks(project)
    child.kill('SIGKILL')
    await ended
    expect(before).toMatchObject([{ state: 'RUNNING', phase }])
    expect(await tasks(project)).toMatchObject([{ state: 'RUNNING', abandoned: true }])
    const changed = project.read('src/add.js')

    const working = task(project, model, ['work'])
    let isOver = false
    void working.finally(() => {
      isOver = true
    })
    while (!isOver) {
      const run = await waitingRun(project, () => isOver)
      if (run !== '') letGo(project, run)
    }
    const { code, stderr } = await working
    expect(code, stderr).toBe(0)
    const [done] = await tasks(project)
    expect(done, JSON.stringify(done)).toMatchObject({ state: 'SUCCESS', current_attempt: death.attempts })
    for (const [role, times] of Object.entries(death.paid))
      expect([role, model.count(role as Role)]).toEqual([role, times])
    const events = await eventsOf(project, done?.id ?? '')
    expect(only({ events }, 'task_started').map(({ resumed }) => resumed)).toContain(true)
    expect(only({ events }, 'task_ended')).toMatchObject([{ state: 'SUCCESS', attempts: death.attempts }])
    expect(done?.run_ids).toHaveLength(death.attempts)
    expect(new Set(done?.run_ids).size).toBe(death.attempts)
    expect(snapshots(project)).toHaveLength(death.snapshots)
    if (tree === '--apply') expect(changed).toContain('a - b')
    else if (phase !== 'ANALYZING') expect(changed).not.toContain('a - b')
    expect(project.read('src/add.js')).toContain('a + b')
    // The task, the untouched tree, its verifications, and in a tree of its own the run with the old tests. An interrupted verification is not part of the task, and does not look like a running one.
    const listed = await gantry(project, ['runs', 'list', '--json'])
    expect(listed.stdout).not.toContain('"running"')
    const again = [phase === 'VERIFYING', tree === '--apply'].filter(Boolean).length
    expect(runsOf(project)).toHaveLength(2 + death.attempts + again)
    expect(isAlive(child.pid ?? 0)).toBe(false)
  })
}

test.concurrent('a worker that gets a stop signal leaves its task, and a follower sees the end', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('+'), tested()] })
  await task(project, model, ['submit', '--no-start', '--sandbox', 'bubblewrap', aTask])
  const held = model.hold('editor', 2)
  const worker = startTask(project, model, ['work'])
  await held
  const follower = task(project, null, ['logs', 'latest', '--follow'])
  worker.child.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  expect(code, stderr).toBe(130)
  expect(await tasks(project)).toMatchObject([{ state: 'RUNNING', abandoned: true }])
  expect((await task(project, model, ['work'])).code).toBe(0)
  expect(await tasks(project)).toMatchObject([{ state: 'SUCCESS', current_attempt: 1 }])
  expect([model.count('scout_a'), model.count('scout_b')]).toEqual([1, 1])
  const { stdout } = await follower
  expect(stdout).toContain('SUCCESS: every step of the verification passed')
})

test.concurrent('a task whose worker is dead is cancelled at once', async () => {
  const project = makeRepository()
  const model = await openModel({ edits: () => [sum('*'), tested()] })
  const held = model.hold('editor', 2)
  const { child, ended } = startTask(project, model, ['run', '--sandbox', 'bubblewrap', aTask])
  await held
  child.kill('SIGKILL')
  await ended
  const { stdout } = await task(project, null, ['cancel'])
  expect(stdout).toContain('was cancelled: no worker has it')
  expect(await tasks(project)).toMatchObject([{ state: 'CANCELLED' }])
  expect(project.read('src/add.js')).toContain('a - b')
  const workspaces = () => runsOf(project).filter((id) => existsSync(runPath(project, id, 'workspace')))
  expect(workspaces()).toHaveLength(1)
  // The next worker that does a task removes what the dead one left.
  expect((await task(project, model, ['work'])).code).toBe(0)
  await taskRun(project, model, ['Fix the other sum.', '--max-cost-usd', '0.001'])
  expect(workspaces()).toEqual([])
  expect(model.asked.filter((role) => role === 'scout_a')).toHaveLength(1)
})
