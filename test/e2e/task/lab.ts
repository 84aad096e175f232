import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import type { QueuedTask } from '../../../src/store/queue/contract.ts'
import type { TaskEvent } from '../../../src/task/contract.ts'
import { commitAll } from '../plan/lab.ts'
import { type GantryOptions, type GantryResult, gantry, startGantry } from '../support/gantry.ts'
import type { Files, TestProject } from '../support/project.ts'
import { verifiedProject } from '../verify/lab.ts'
import type { TestModel } from './model.ts'

const later: (() => unknown)[] = []

/** When the whole file is through: its tests run side by side. The last that was made goes first. */
export function afterwards(end: () => unknown): void {
  later.push(end)
}

afterAll(async () => {
  for (const end of later.reverse()) await end()
})

/** Green when the sum is one; what it says when it is not names the fault. */
const check = `grep -q "a + b" src/add.js || { echo "AssertionError: expected 3 but got -1"; exit 1; }
echo "1 passed"
`

const files: Files = {
  'src/add.js': 'export const add = (a, b) => a - b\n',
  'test/add.test.js': "import test from 'node:test'\ntest('adds', () => {})\n",
  'package.json': '{ "type": "module" }\n',
  'check.sh': check,
}

export interface RepositoryOptions {
  readonly files?: Files
  readonly steps?: readonly (string | Readonly<Record<string, unknown>>)[]
  readonly verification?: Readonly<Record<string, unknown>>
  readonly top?: Readonly<Record<string, unknown>>
  readonly git?: boolean
  /** Without the files of the repository with the wrong sum. */
  readonly bare?: boolean
}

/** A repository whose sum is wrong, and a check in place of a test suite. Gone when the test is. */
export function makeRepository(options: RepositoryOptions = {}): TestProject {
  const { steps = ['sh check.sh'], verification, top, git: isGit = true } = options
  const project = verifiedProject({
    steps,
    verification: { container_image: 'gantry-test:local', ...verification },
    ...(top !== undefined && { top }),
    files: options.bare === true ? (options.files ?? {}) : { ...files, ...options.files },
    git: false,
  })
  afterwards(() => project[Symbol.dispose]())
  if (isGit) commitAll(project)
  if (steps.includes(waitingStep)) {
    const timer = setInterval(() => letComparisonsGo(project), 100)
    afterwards(() => clearInterval(timer))
  }
  return project
}

export const write = (path: string, content: string) => ({ write: { path, content } })
export const sum = (sign: string) => write('src/add.js', `export const add = (a, b) => a ${sign} b\n`)
export const tested = (number = 1) =>
  write('test/more.test.js', `import test from 'node:test'\ntest('more ${number}', () => {})\n`)

export interface TaskResult extends GantryResult {
  readonly events: readonly TaskEvent[]
  readonly end: TaskEvent & { readonly kind: 'task_ended' }
}

export function envOf(
  project: TestProject,
  model: Pick<TestModel, 'env'> | null,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    GANTRY_GUARD_HOME: join(project.home, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
    ...model?.env,
    ...more,
  }
}

/** `gantry task …` in this process. */
export function task(
  project: TestProject,
  model: TestModel | null,
  argv: readonly string[],
  { env, ...rest }: GantryOptions = {},
): Promise<GantryResult> {
  return gantry(project, ['task', ...argv], { ...rest, env: envOf(project, model, env) })
}

export const aTask = 'Fix the sum of two numbers.'

/** `gantry task run … --json` on bubblewrap unless another engine is named, parsed. Its change is applied unless `tree` says otherwise. */
export async function taskRun(
  project: TestProject,
  model: TestModel,
  argv: readonly string[] = [],
  options: GantryOptions = {},
  tree: readonly string[] = argv.includes('--dry-run') || argv.includes('--here') ? [] : ['--apply'],
): Promise<TaskResult> {
  const sandbox = argv.includes('--sandbox') ? [] : ['--sandbox', 'bubblewrap']
  const text = argv.some((word) => word.includes(' ')) ? [] : [aTask]
  const result = await task(project, model, ['run', ...sandbox, ...tree, ...argv, ...text, '--json'], options)
  return { ...result, ...readEvents(result) }
}

/** A task that goes on from one that ended. */
export async function again(
  how: 'apply' | 'retry',
  project: TestProject,
  model: TestModel,
  id: string,
  flags: readonly string[] = [],
): Promise<TaskResult> {
  const result = await task(project, model, [how, id, ...flags, '--json'])
  return { ...result, ...readEvents(result) }
}

/** `gantry task …` in its own process, which is ended with the test. */
export function startTask(
  project: TestProject,
  model: TestModel,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof startGantry> {
  const started = startGantry(project, ['task', ...argv], { env: envOf(project, model, env) })
  afterwards(async () => {
    started.child.kill('SIGKILL')
    await started.ended
  })
  return started
}

export function readEvents({ stdout, stderr }: GantryResult): Pick<TaskResult, 'events' | 'end'> {
  const events = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): TaskEvent => JSON.parse(line))
  const end = events.at(-1)
  if (end?.kind !== 'task_ended') throw new Error(`no end was reported: ${stdout}${stderr}`)
  return { events, end }
}

export function only<Kind extends TaskEvent['kind']>(
  { events }: { readonly events: readonly TaskEvent[] },
  kind: Kind,
): Extract<TaskEvent, { kind: Kind }>[] {
  return events.filter((event): event is Extract<TaskEvent, { kind: Kind }> => event.kind === kind)
}

export const phases = (run: { readonly events: readonly TaskEvent[] }): string[] =>
  only(run, 'state_transition').map(({ to }) => to)

/** The tasks of the store, through the program. */
export async function tasks(project: TestProject): Promise<readonly QueuedTask[]> {
  const { stdout } = await gantry(project, ['task', 'list', '--json'])
  return (JSON.parse(stdout) as { tasks: QueuedTask[] }).tasks
}

export async function eventsOf(project: TestProject, id: string): Promise<readonly TaskEvent[]> {
  const { stdout } = await gantry(project, ['task', 'logs', id, '--format', 'events'])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): TaskEvent => JSON.parse(line))
}

/** Until it is so. Says what it waited for when the test runs out of time. */
export async function until(
  is: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 500_000,
): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`it never came: ${what}`)
    await sleep(50)
  }
}

/** The context snapshots of all tasks of the store, in order. */
export function snapshots(project: TestProject): readonly string[] {
  return runsOf(project)
    .flatMap((id) => {
      const place = runPath(project, id, 'reports')
      return existsSync(place) ? readdirSync(place) : []
    })
    .filter((name) => /^context_\d{3}\.md$/.test(name))
    .sort()
}

export async function taskReport(project: TestProject, id: string): Promise<string> {
  return (await gantry(project, ['task', 'show', id, '--report'])).stdout
}

export const runPath = (project: TestProject, runId: string | null, ...rest: readonly string[]): string =>
  join(project.store, 'runs', runId ?? 'none', ...rest)

export function manifestOf(project: TestProject, runId: string): Record<string, unknown> {
  return JSON.parse(readFileSync(runPath(project, runId, 'manifest.json'), 'utf8'))
}

export const runsOf = ({ store }: TestProject): readonly string[] =>
  existsSync(join(store, 'runs'))
    ? readdirSync(join(store, 'runs')).filter((id) => id.startsWith('run_'))
    : []

/** A step that begins and goes on only when it is let, or at once on the untouched tree. The check follows it. */
export const waitingStep = {
  name: 'wait',
  command: 'touch /artifacts/begun; until [ -e /artifacts/go ]; do sleep 0.1; done',
}

function isComparison(project: TestProject, runId: string): boolean {
  return /"title": "(?:baseline|[^"]* with [^"]*) of /.test(
    readFileSync(runPath(project, runId, 'manifest.json'), 'utf8'),
  )
}

function letComparisonsGo(project: TestProject): void {
  for (const id of runsOf(project))
    if (existsSync(runPath(project, id, 'artifacts', 'begun')) && isComparison(project, id))
      letGo(project, id)
}

/** The verification whose waiting step has begun and was not let go yet; empty when there is none to wait for any more. */
export async function waitingRun(
  project: TestProject,
  isOver: () => boolean = () => false,
  but: readonly string[] = [],
): Promise<string> {
  let found: string | undefined
  await until(() => {
    found = runsOf(project).find(
      (id) =>
        !but.includes(id) &&
        existsSync(runPath(project, id, 'artifacts', 'begun')) &&
        !existsSync(runPath(project, id, 'artifacts', 'go')) &&
        !isComparison(project, id),
    )
    return found !== undefined || isOver()
  }, 'a verification that waits')
  return found ?? ''
}

export function letGo(project: TestProject, runId: string): void {
  mkdirSync(runPath(project, runId, 'artifacts'), { recursive: true })
  writeFileSync(runPath(project, runId, 'artifacts', 'go'), '')
}
