import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../../test/support/run-command.ts'
import type { Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { flagRun } from '../../store/flag-run.ts'
import { openStore } from '../../store/open-store.ts'
import type { ClaimedTask, FinalState, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import { openQueue } from '../../store/queue/open-queue.ts'
import type { TaskStep } from '../../task/contract.ts'
import { submitTask } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { taskCommand } from './index.ts'
import { sayingOthers } from './run.ts'
import { observedQueue, workUntilEmpty } from './work.ts'

/** Checks availability without starting anything. */
const options = { sandbox: 'host' } as const
let root: string
let app: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-task-')))
  app = join(root, 'app')
  mkdirSync(join(app, '.git'), { recursive: true })
  writeFileSync(join(app, '.git', 'HEAD'), 'ref: refs/heads/main\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function task(...argv: readonly string[]) {
  return runCommand(taskCommand, argv, { cwd: app, env: { AGENT_ARTIFACT_DIR: join(root, 'store') } })
}

function inQueue<T>(work: (queue: TaskQueue, store: Store) => T): T {
  const store = openStore({ env: { AGENT_ARTIFACT_DIR: join(root, 'store') }, cwd: app })
  const queue = openQueue(store)
  try {
    return work(queue, store)
  } finally {
    queue.close()
  }
}

/** A task that was ended by a worker of this process. */
function ended(
  state: FinalState,
  {
    dryRun = false,
    steps = [],
    runIds = [],
    taskRunId = 'run_20260101_000000_aaaaaa',
  }: {
    readonly dryRun?: boolean
    readonly steps?: readonly TaskStep[]
    readonly runIds?: readonly string[]
    readonly taskRunId?: string
  } = {},
): TaskRecord {
  return inQueue((queue) => {
    const { id } = submitTask(queue, { repository: app, description: 'Fix the sum.', dryRun, options })
    queue.claim()
    queue.update(id, { task_run_id: taskRunId, run_ids: runIds, current_attempt: 2 })
    for (const step of steps) queue.append(id, { ts: 1, task_id: id, ...step }, 'detail')
    return queue.end(id, { state, summary: null, error_message: state === 'SUCCESS' ? null : 'no luck' })
  })
}

const countTasks = (): number => inQueue((queue) => queue.list().length)

describe('tasks that continue another task', () => {
  test.each([
    ['retry', 'STUCK', false],
    ['apply', 'SUCCESS', true],
  ] as const)(
    '%s is checked like a new task, and not queued when it cannot start',
    async (how, state, dryRun) => {
      const { id } = ended(state, { dryRun })
      await expect(task(how, id)).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching(/^the task cannot start:\n.*- agent\.yaml: .*- model: /s),
      })
      expect(countTasks()).toBe(1)
    },
  )
})

describe('the repository', () => {
  test('is where the nearest agent.yaml is, as for gantry verify', async () => {
    const inner = join(app, 'packages', 'one')
    mkdirSync(join(inner, 'src'), { recursive: true })
    writeFileSync(join(inner, 'agent.yaml'), 'nonsense: 1\n')
    await expect(
      task('submit', '--no-start', '--sandbox', 'host', '--root', join(inner, 'src'), 'Do it.'),
    ).rejects.toThrow(/- agent\.yaml: .*nonsense/s)
    inQueue((queue) => submitTask(queue, { repository: inner, description: 'Inner.' }))
    inQueue((queue) => submitTask(queue, { repository: app, description: 'Outer.' }))
    const { stdout } = await task('list', '--root', 'packages/one/src', '--json')
    expect(JSON.parse(stdout).tasks).toMatchObject([{ description: 'Inner.' }])
  })

  test('that is not a directory is reported with everything else', async () => {
    await expect(
      task('submit', '--no-start', '--sandbox', 'host', '--root', 'nowhere', 'Do it.'),
    ).rejects.toThrow(/- repository: .*nowhere is not a directory.*- model: /s)
  })
})

describe('a task by a part of its id', () => {
  test('is found by any unique part', async () => {
    const { id } = ended('STUCK')
    expect((await task('show', id.slice(7, 22), '--json')).stdout).toContain(id)
    ended('STUCK')
    await expect(task('show', 'ask_2')).rejects.toMatchObject({
      code: 'USAGE',
      message: 'ask_2 matches 2 tasks: '.concat(
        inQueue((queue) => queue.list().map((one) => one.id)).join(', '),
      ),
    })
    await expect(task('show', 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

const result = (run_id: string, status: 'PASS' | 'FAIL'): TaskStep => ({
  kind: 'verifier_result',
  run_id,
  attempt: 1,
  status,
  duration_ms: 1,
  failure: null,
})

describe('gantry task show', () => {
  test('shows the result of each verification, with consistent keys', async () => {
    const runIds = ['run_1', 'run_2', 'run_3']
    const { id } = ended('STUCK', { runIds, steps: [result('run_1', 'FAIL'), result('run_2', 'PASS')] })
    const { stdout } = await task('show', id)
    expect(stdout).toMatch(/verification {2}run_1 FAIL\nverification {2}run_2 PASS\nverification {2}run_3\n/)
    const json = JSON.parse((await task('show', id, '--json')).stdout)
    expect(Object.keys(json)).toEqual(['task', 'verifications', 'summary', 'stuck_report', 'diff'])
    expect(json.verifications).toEqual([
      { run_id: 'run_1', status: 'FAIL' },
      { run_id: 'run_2', status: 'PASS' },
      { run_id: 'run_3', status: null },
    ])
  })

  test('the diff of a task without stored files is the last reported one', async () => {
    const diff = (text: string): TaskStep => ({ kind: 'diff', text, files: [] })
    const { id } = ended('STUCK', { steps: [diff('first\n'), diff('second\n')] })
    expect((await task('show', id, '--diff')).stdout).toBe('second\n')
  })
})

test('a question that waits is shown with how to answer it, until it is answered', async () => {
  const begin = (queue: TaskQueue): string => {
    const { id } = submitTask(queue, { repository: app, description: 'Fix the sum.' })
    queue.claim()
    const question = { kind: 'question', text: 'Plus or minus?', timeout_ms: 60_000 }
    queue.append(id, { ts: 1, task_id: id, ...question }, 'milestone')
    return id
  }
  const id = inQueue(begin)
  const shown = async () => [(await task('show', id)).stdout, (await task('list')).stdout]
  const [one, all] = await shown()
  expect(one).toContain(`question      Plus or minus?\nanswer with   gantry task tell ${id} "…"\n`)
  expect(all).toContain(`${id} asks: Plus or minus?\nAnswer with: gantry task tell ${id} "…"\n`)
  await task('tell', id, 'Plus.')
  for (const text of await shown()) expect(text).not.toContain('minus?')
})

describe('gantry task logs', () => {
  const call = (tool: string, more: object): TaskStep => ({
    kind: 'agent',
    event: { event: 'tool_call', tool, ...more },
  })
  const asked: TaskStep = {
    kind: 'scout_query',
    scout: 'scout_a',
    summary: '',
    duration_ms: 5,
    success: true,
    tries: 1,
    cost_usd: 0,
    input_tokens: 1,
    output_tokens: 1,
  }

  test('with -v shows the subject of a tool call, and names the Scouts', async () => {
    const steps = [
      asked,
      { ...asked, success: false, scout: 'scout_b', error: 'asleep' } as const,
      call('read', { input: { path: 'src/a.ts' } }),
      call('Edit', { input: { file_path: '/app/b.ts', old_string: 'x' } }),
      call('bash', { command: 'npm test', input: { command: 'npm test' } }),
      call('think', { input: { depth: 3 } }),
    ]
    const { id } = ended('STUCK', { steps })
    const { stdout } = await task('logs', id, '-v')
    for (const line of [
      'tool_call read src/a.ts',
      'tool_call Edit /app/b.ts',
      'tool_call bash npm test',
      'tool_call think',
    ])
      expect(stdout).toMatch(new RegExp(`  ${line}$`, 'm'))
    expect(stdout).toContain('Scout A answered')
    expect(stdout).toContain('Scout B did not answer (1 try): asleep')
    expect(stdout).not.toMatch(/scout_[ab]/)
    expect((await task('logs', id)).stdout).not.toContain('tool_call')
  })
})

test.each([
  [['history', '--clear', '--limit', '3'], /'--clear' cannot be used with option '--limit/],
  [['metrics', '--json', '--prometheus'], /'--prometheus' cannot be used with option '--json'/],
  [['show', 'latest', '--diff', '--report'], /'--diff' cannot be used with option '--report'/],
  [['show', 'latest', '--report', '--json'], /'--report' cannot be used with option '--json'/],
  [['logs', 'latest', '-v', '--format', 'log'], /--verbose has no effect with --format log/],
  [['logs', 'latest', '-v', '--format', 'events'], /--verbose has no effect with --format events/],
])('flags that cannot be combined are rejected: %j', async (argv, message) => {
  ended('STUCK')
  await expect(quietly(argv)).rejects.toThrow(message)
  expect(countTasks()).toBe(1)
})

test('flags that can be combined are accepted', async () => {
  ended('STUCK')
  expect((await task('logs', 'latest', '-v', '--format', 'text')).stdout).toContain('Task queued')
  expect((await task('history', '--clear')).stdout).toBe('Forgot 1 ended task.\n')
})

test('the history forgets no task that waits for the user', async () => {
  const taskRunId = inQueue((_, store) => {
    const run = createRun(store, { kind: 'task', title: 'task', argv: [], cwd: '/' })
    run.release()
    flagRun(store, run.id, 'stuck', true)
    return run.id
  })
  const waiting = ended('STUCK', { taskRunId })
  ended('SUCCESS')
  const kept = 'Kept 1: apply, commit or drop their change, or retry those that are stuck.'
  expect((await task('history', '--clear')).stdout).toBe(`Forgot 1 ended task. ${kept}\n`)
  expect(inQueue((queue) => queue.list().map(({ id }) => id))).toEqual([waiting.id])
})

test('a task that is done first is named, and why', () => {
  const said: string[] = []
  const stderr = { write: (text: string) => void said.push(text) } as unknown as CliContext['stderr']
  inQueue((queue) => {
    const [first, second] = ['Fix\nit.', 'Fix more.'].map((description) =>
      submitTask(queue, { repository: app, description, options }),
    )
    if (first === undefined || second === undefined) throw new Error('no task')
    const watched = sayingOthers(queue, second.id, { stderr })
    watched.claim()
    queue.release(first.id)
    watched.claim()
    expect(said).toEqual([
      expect.stringMatching(`^Does ${first.id} first, which was queued before: Fix`),
      expect.stringMatching(`^Resumes ${first.id} first, left by its worker: Fix`),
    ])
    queue.end(first.id, { state: 'SUCCESS', summary: null, error_message: null })
    watched.claim()
    expect(said).toHaveLength(2)
  })
})

test('a task that its worker left is called the same in the list and alone', async () => {
  const { id } = inQueue((queue) => submitTask(queue, { repository: app, description: 'Fix it.', options }))
  inQueue((queue) => {
    queue.claim()
    queue.update(id, { phase: 'IMPLEMENTING' })
    queue.release(id)
  })
  for (const argv of [['list'], ['show', id]])
    expect((await task(...argv)).stdout).toContain('RUNNING, left by its worker')
  expect((await task('show', id)).stdout).toMatch(/^resume with +gantry task work$/m)
  await expect(task('retry', id)).rejects.toMatchObject({ hint: expect.stringContaining('gantry task work') })
})

test('an accepted task says so, and what was accepted', async () => {
  const { id } = ended('WEAKENED')
  expect((await task('show', id)).stdout).toMatch(/^why +no luck$/m)
  inQueue((queue) => queue.accept(id))
  expect((await task('show', id)).stdout).toMatch(/^accepted +no luck$/m)
})

describe('gantry task work', () => {
  test('reports an empty queue', async () => {
    expect(await task('work')).toEqual({
      stdout: 'Stopped: the queue is empty.\n',
      stderr: '',
      exitCode: 0,
    })
  })

  test('reports each task and why it stops; --from chooses the queue', async () => {
    const id = inQueue(
      (queue) => submitTask(queue, { repository: app, description: 'Fix\nthe sum.', options }).id,
    )
    const { stdout } = await runCommand(taskCommand, ['work', '--from', app], {
      cwd: root,
      env: { AGENT_ARTIFACT_DIR: join(root, 'store') },
    })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatch(new RegExp(`  ${id} started in ${app}: Fix the sum\\.$`))
    expect(lines[1]).toMatch(
      new RegExp(`  ${id} INFRA_ERROR after .*: the task cannot start: - agent\\.yaml`),
    )
    expect(lines[2]).toBe('Stopped: the queue is empty.')
  })

  test('reports what is left for other workers', async () => {
    inQueue((queue) => {
      for (const description of ['One.', 'Two.'])
        submitTask(queue, { repository: app, description, options: { ...options, here: true } })
      queue.claim()
    })
    expect((await task('work')).stdout).toBe(
      'Stopped: other workers have the rest, 1 running task and 1 queued task.\n',
    )
  })

  test('reports an interruption and exits with 130', async () => {
    let code = 0
    const printed: string[] = []
    const stdout = { ...silent.stdout, write: (text: string) => void printed.push(text) }
    await workUntilEmpty({
      ...silent,
      cwd: app,
      env: { AGENT_ARTIFACT_DIR: join(root, 'store') },
      stdout,
      signal: AbortSignal.abort(),
      setExitCode: (next) => {
        code = next
      },
    })
    expect(printed.join('')).toMatch(/^Stopped: interrupted\./)
    expect(code).toBe(130)
  })

  test('reports a task that is released without an end', () => {
    const seen: string[] = []
    inQueue((queue) => {
      const listener = {
        begun: ({ task: { id }, resumed }: ClaimedTask) => seen.push(`${resumed ? 'again' : 'begun'} ${id}`),
        ended: ({ id }: TaskRecord) => seen.push(`ended ${id}`),
        released: (id: string) => seen.push(`released ${id}`),
      }
      const { id } = submitTask(queue, { repository: app, description: 'One.', options })
      const observed = observedQueue(queue, listener)
      observed.claim()
      observed.release(id)
      observed.claim()
      expect(seen).toEqual([`begun ${id}`, `released ${id}`, `again ${id}`])
      expect(observed.claim()).toBeNull()
      expect(seen).toHaveLength(3)
    })
  })
})

test('a missing task text is explained by an example in the help', async () => {
  for (const name of ['run', 'submit', 'apply', 'retry']) {
    const command = taskCommand(silent).commands.find((one) => one.name() === name)
    let help = ''
    command?.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 70 }).outputHelp()
    expect(help).toMatch(new RegExp(`^Examples?:\n  gantry task ${name} `, 'm'))
    const wrapped = help.split('\n').filter((line) => !line.startsWith('  '))
    expect(Math.max(...wrapped.map((line) => line.length))).toBeLessThanOrEqual(70)
  }
})

const silent = {
  cwd: '/',
  env: {},
  stdout: { write: () => {}, isTTY: false, columns: 70, color: false },
  stderr: { write: () => {}, isTTY: false, columns: 70, color: false },
  signal: new AbortController().signal,
  setExitCode: () => {},
}

/** Commander would print its error to the test's own standard error. */
function quietly(argv: readonly string[]) {
  const create = (context: Parameters<typeof taskCommand>[0]) => {
    const command = taskCommand(context)
    for (const child of command.commands) child.exitOverride().configureOutput({ writeErr: () => {} })
    return command
  }
  return runCommand(create, argv, { cwd: app, env: { AGENT_ARTIFACT_DIR: join(root, 'store') } })
}
