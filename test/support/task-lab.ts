import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadProject } from '../../src/config/load.ts'
import { resolveAgent } from '../../src/config/resolve-agent.ts'
import { createRedaction } from '../../src/core/redaction.ts'
import { exec, shell } from '../../src/io/exec.ts'
import type { Model } from '../../src/models/contract.ts'
import { resolveModel } from '../../src/models/index.ts'
import { sandboxEngines } from '../../src/sandboxes/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { createRun } from '../../src/store/create-run.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { TaskChange } from '../../src/store/queue/contract.ts'
import type { TaskEvent } from '../../src/task/contract.ts'
import { openEditor } from '../../src/task/editor/open-editor.ts'
import { runTask } from '../../src/task/run-task.ts'
import { openScouts } from '../../src/task/scouts/open-scouts.ts'
import type { TaskEnd, TaskRequest, VerifyAttempt } from '../../src/task/task-request.ts'
import type { VerifierResponse } from '../../src/verifier/contract.ts'
import { judgeStep } from '../../src/verifier/run-steps.ts'
import { evidenceDocument } from '../../src/verifier/sandbox-document.ts'

export interface LabOptions {
  readonly files?: Readonly<Record<string, string>>
  /** What the Editor does, turn by turn; the last one again and again. */
  readonly edits: readonly (readonly object[])[]
  /** `sh` on the tree: what decides. */
  readonly check?: string
  /** Answers of the model to a REPLAN, one after the other. */
  readonly strategies?: readonly string[]
  /** In front of the answers of the scripted model. */
  readonly answers?: readonly object[]
  readonly scoutA?: object
  readonly scoutB?: object
}

export interface Lab extends Disposable {
  readonly top: string
  readonly root: string
  readonly store: Store
  run(request?: Partial<TaskRequest>, how?: RunOptions): Promise<LabRun>
}

export interface RunOptions {
  readonly signal?: AbortSignal
  readonly onEvent?: (event: TaskEvent) => void
  readonly verify?: VerifyAttempt
  readonly messages?: () => readonly string[]
}

export interface LabRun {
  readonly end: TaskEnd
  readonly events: readonly TaskEvent[]
  readonly changes: readonly TaskChange[]
}

export const project = {
  'src/add.js': 'export const add = (a, b) => a - b\n',
  'test/add.test.js':
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { add } from '../src/add.js'\ntest('adds', () => assert.equal(add(1, 2), 3))\n",
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'agent.yaml':
    'verification:\n  container_image: none\n  steps:\n    - { name: check, command: sh check.sh }\n',
}

/** Green when the sum is one. */
export const adds =
  'grep -q "a + b" src/add.js || { echo "AssertionError: expected 3 but got -1"; exit 1; }; echo "1 passed"'

export const write = (path: string, content: string) => ({ write: { path, content } })
export const sum = (sign: string) => write('src/add.js', `export const add = (a, b) => a ${sign} b\n`)
export const tested = (number: number) =>
  write('test/more.test.js', `import test from 'node:test'\ntest('more ${number}', () => {})\n`)

/** A repository, a store, and a task on them: everything is real but the model and the Editor's head, which are scripts. */
export function openLab(options: LabOptions): Lab {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-task-')))
  writeLab(top, options)
  return { ...labAt(top), [Symbol.dispose]: () => rmSync(top, { recursive: true, force: true }) }
}

/**
 * One that is there already, also for another process.
 * @public A worker process of `crash.long.test.ts` imports it.
 */
export function labAt(top: string): Omit<Lab, typeof Symbol.dispose> {
  const root = join(top, 'repo')
  const store = openStore({ env: {}, cwd: top, root: join(top, 'store') })
  return { top, root, store, run: (request = {}, how = {}) => run(top, root, store, request, how) }
}

function writeLab(top: string, options: LabOptions): void {
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  const files = { ...project, 'check.sh': options.check ?? adds, ...options.files }
  for (const [path, text] of Object.entries(files)) put(`repo/${path}`, text)
  put('home/keep', '')
  const scripts = options.edits.map((turns, index) => ({ when: { attempt: index + 1 }, turns }))
  put('editor.yaml', JSON.stringify({ name: 'editor', scripts, turns: options.edits.at(-1) }))
  const strategies = (options.strategies ?? []).map((strategy) => ({
    match: 'You plan changes',
    times: 1,
    json: { strategy, why: 'the others failed' },
  }))
  const answers = [
    ...(options.answers ?? []),
    { match: 'You are Scout A', json: options.scoutA ?? scoutA },
    { match: 'You are Scout B', json: options.scoutB ?? scoutB },
    ...strategies,
  ]
  put('model.yaml', JSON.stringify({ answers }))
  const env = { PATH: process.env.PATH ?? '', HOME: join(top, 'home'), GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: join(top, 'repo'), env })
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.invalid', 'commit', '--quiet', '-m', 'first')
}

export const scoutA = {
  schema_version: '1',
  repo_map: {
    relevant_files: [{ path: 'src/add.js', purpose: 'adds', relevance: 'primary' }],
    entry_points: ['src/add.js'],
    dependency_graph: {},
  },
  risk_zones: [],
  change_boundaries: {
    safe_slices: [
      { id: 's1', files: ['src/add.js'], description: 'mend the sign', complexity: 'low', order: null },
    ],
    ordering_constraints: [],
  },
  conventions: { naming: 'camelCase', patterns: [], anti_patterns: [] },
  prior_art: [],
  verification_tips: [],
  hypotheses: [],
}

export const scoutB = {
  schema_version: '1',
  failure_analysis: {
    root_cause: 'the sign is wrong',
    affected_files: ['src/add.js'],
    suggested_investigation: ['look at the sign'],
    is_flaky: false,
  },
  environment_issues: [],
}

async function run(
  top: string,
  root: string,
  store: Store,
  change: Partial<TaskRequest>,
  { signal = new AbortController().signal, onEvent, verify, messages }: RunOptions,
): Promise<LabRun> {
  const events: TaskEvent[] = []
  const changes: TaskChange[] = []
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(top, 'home'),
    GANTRY_GUARD_HOME: join(top, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
  const redaction = createRedaction([], env)
  const agent = await resolveAgent('scripted:editor.yaml', {
    project: loadProject(root),
    cwd: top,
    env,
    probeEnv: env,
    signal,
  })
  const request: TaskRequest = {
    taskId: 'task_20260101_000000_aaaaaa',
    repository: root,
    description: 'Fix the sum of two numbers.',
    dryRun: false,
    here: true,
    resumed: false,
    taskRunId: null,
    agent: 'scripted',
    model: 'scripted:model.yaml',
    sandbox: 'a shell',
    package: null,
    steps: [{ name: 'check', command: 'sh check.sh' }],
    ...change,
  }
  const end = await runTask(request, {
    store,
    env,
    argv: ['task', 'run'],
    redaction,
    signal,
    ...(messages !== undefined && { messages }),
    onChange: (each) => void changes.push(each),
    onEvent: (event) => {
      events.push(event)
      onEvent?.(event)
    },
    open: async (site) => {
      const opened = await resolveModel('scripted:model.yaml', {
        env,
        base: top,
        budget: site.budget,
        retry: { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 },
        prices: { 'model.yaml': { input: 0, output: 10, cacheRead: 0, cacheWrite: 0 } },
      })
      const model = counted(opened, join(top, 'model-calls.log'))
      const editor = await openEditor(
        {
          agent,
          modelLink: null,
          model: 'default',
          package: request.package,
          artefacts: store.root,
          host: env,
          prices: {},
          redaction,
          timeoutMs: 60_000,
          // The Editor's commands run as the user.
          place: {
            engine: sandboxEngines.host,
            config: {} as never,
            installed: async () => [],
            cachesDir: top,
            origin: root,
            env: {},
            sharesHome: false,
          },
        },
        site,
      )
      const scouts = openScouts({
        model,
        root: site.root,
        packageDir: request.package,
        timeoutMs: 600_000,
        commands: async () => [],
        emit: site.emit,
        sleep: async () => {},
      })
      return {
        scouts,
        model,
        edit: editor.edit,
        verify: verify ?? byShell(site.root, store),
        [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
      }
    },
  })
  return { end, events, changes }
}

/** Records every call before it is made: the number of lines is the number of paid calls. */
function counted(model: Model, path: string): Model {
  const note = (prompt: string): void => appendFileSync(path, `${JSON.stringify(prompt.slice(0, 60))}\n`)
  return {
    ...model,
    text: (request) => {
      note(request.prompt)
      return model.text(request)
    },
    structured: (request) => {
      note(request.prompt)
      return model.structured(request)
    },
  }
}

/** A Verifier without a sandbox: the check really runs on the tree, and has a run directory. */
function byShell(root: string, store: Store): VerifyAttempt {
  return async (attempt, signal, watch): Promise<VerifierResponse> => {
    const live = createRun(store, { kind: 'verify', title: `check ${attempt}`, argv: [], cwd: root })
    watch.started(live.id)
    const { exitCode, stdout, stderr } = await exec({
      argv: shell('sh check.sh'),
      cwd: root,
      env: { PATH: process.env.PATH ?? '' },
      signal,
    })
    const log = `=== step 1: check ===\n$ sh check.sh\n${stdout.text}${stderr.text}exit code: ${exitCode}\n`
    watch.output(log)
    const command = { name: 'check', command: 'sh check.sh', exit_code: exitCode, duration_ms: 1 }
    const step = {
      command: 'sh check.sh',
      exitCode: exitCode ?? 1,
      treeHash: '',
      startedAt: '',
      durationMs: 1,
    }
    const { evidence } = judgeStep({ ...step, output: `${stdout.text}${stderr.text}` })
    await live.end({
      status: exitCode === 0 ? 'pass' : 'fail',
      change: { commands_executed: [command], details: { evidence: [evidenceDocument(evidence)] } },
    })
    return {
      status: exitCode === 0 ? 'PASS' : 'FAIL',
      run_id: live.id,
      tail_log: log,
      artifact_paths: [],
      manifest: live.manifest(),
      ...(exitCode !== 0 && { failed_step: { ...command, index: 0, timed_out: false } }),
    }
  }
}
