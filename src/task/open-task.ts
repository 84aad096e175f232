import { join } from 'node:path'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from '../io/directory.ts'
import { gitInfo } from '../io/git.ts'
import { homeDirectory } from '../io/host.ts'
import { isDirectory } from '../io/path-kind.ts'
import type { LiveRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { openRun } from '../store/open-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import type { Baseline, Knowledge, OpenedTask, TaskBase } from './active-task.ts'
import { testInventory } from './editor/test-inventory.ts'
import { editorWriteLimits } from './editor/write-limits.ts'
import { keptIn, openFeed } from './journal.ts'
import { noLoopCounters } from './loop-counters.ts'
import { openTree } from './open-tree.ts'
import { openWorkspace, placesOf, storeInside } from './open-workspace.ts'
import { readStuckReport, type StuckContext, stuckRuns } from './reports/stuck-report.ts'
import { editorStates } from './states.ts'
import type { TaskContext, TaskRequest } from './task-request.ts'

/** Reopens the run directory of an earlier process if it still exists, else creates one. */
export async function openTaskRun(request: TaskRequest, context: TaskContext): Promise<LiveRun> {
  const { store, redaction, argv } = context
  if (request.resumed && request.taskRunId !== null) {
    try {
      return resumeRun(store, request.taskRunId)
    } catch (error) {
      // It was removed, or the process died before the directory was complete. Nothing is lost.
      if (!(error instanceof GantryError) || error.code !== 'NOT_FOUND') throw error
    }
  }
  const git = await gitInfo(request.repository)
  const [title = ''] = request.description.trim().split('\n')
  const run = createRun(store, {
    kind: 'task',
    title: redaction.text(title.slice(0, 200)),
    argv: argv.map(redaction.text),
    cwd: request.repository,
    ...(git !== null && { dirty: git.dirty, ...(git.commit !== null && { commit_sha: git.commit }) }),
    details: {
      task_id: request.taskId,
      repository: request.repository,
      description: redaction.text(request.description),
    },
  })
  run.writePlan({ trials: [] })
  return run
}

/** Opens the tree of a task and records its state. The caller opens the tools. */
export async function openTask(base: TaskBase): Promise<OpenedTask> {
  const { request, context, run, journal, emit } = base
  const { home, scratch, shadow } = placesOf(run)
  for (const place of [home, scratch]) makeDirectories(place)
  const { root, commit } = isHere(base)
    ? { root: request.repository, commit: null }
    : await openWorkspace(base)
  const tree = await openTree({ dir: shadow, root, leaveOut: storeInside(base), env: context.env })
  const baseline = await journal.step(
    'baseline',
    async (): Promise<Baseline> => ({
      tree: await tree.take(),
      tests: keptEarlier<Baseline>(base, 'baseline')?.tests ?? (await testInventory(root, request.steps)),
    }),
  )
  const env = context.env
  return {
    ...base,
    tree,
    commit,
    baseline,
    writeLimits: editorWriteLimits({
      ...{ root, artefacts: context.store.root, scratch, home: homeDirectory(env), env },
      package: request.package,
    }),
    feed: openFeed(emit),
    states: editorStates(emit, (state) => context.onChange({ phase: state })),
    signal: context.signal,
    stuck: stuckContext(base),
    known: nothingKnown(),
  }
}

/** Also a task that an earlier version of Gantry began in the tree of the user. */
export function isHere({ request, journal }: Pick<TaskBase, 'request' | 'journal'>): boolean {
  const isOld = journal.kept('baseline') !== undefined && journal.kept('workspace') === undefined
  return !request.dryRun && (request.here || isOld)
}

/** What the task that is retried has stored; undefined when there is none or its run is gone. */
export function keptEarlier<T>({ request, context: { store } }: TaskBase, name: string): T | undefined {
  const { retryOf } = request
  return retryOf === undefined || !isDirectory(join(store.runsDir, retryOf))
    ? undefined
    : keptIn(openRun(store, retryOf), name)
}

function nothingKnown(): Knowledge {
  return {
    scoutA: null,
    scoutB: null,
    conventions: null,
    decisions: [],
    corrections: [],
    strategies: [],
    attempts: [],
    counters: noLoopCounters,
    untouched: null,
    verification: null,
    diagnosis: null,
    account: '',
    heard: 0,
    weaker: [],
    installed: [],
    unsound: [],
    notes: [],
    next: { edit: 1, scout_a: 1, scout_b: 1 },
  }
}

/** The report of the retried task, or of the last attempt at the same task. */
function stuckContext({ request, context: { store }, emit, journal }: TaskBase): StuckContext | null {
  // The task keeps the report it began with, even if the file has changed since.
  const kept = journal.kept<{ readonly context: StuckContext | null }>('stuck')
  const earlier = (): string | undefined =>
    request.retry === true && request.retryOf !== undefined
      ? request.retryOf
      : stuckRuns(store, request.repository, request.description)[0]?.run_id
  const of = kept === undefined ? earlier() : undefined
  const context = kept?.context ?? (of === undefined ? null : readStuckReport(store, of))
  if (kept === undefined) journal.keep('stuck', { context })
  if (context !== null)
    emit({
      kind: 'note',
      level: 'info',
      message: `An earlier attempt got stuck (${context.status.split('\n')[0]}). Its report is shown to the Editor: ${counted(context.hypotheses.length, 'hypothesis', 'hypotheses')}, ${counted(context.runIds.length, 'run')}.`,
    })
  return context
}
