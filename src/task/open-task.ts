import { isAbsolute, join, relative } from 'node:path'
import { GantryError } from '../core/error.ts'
import { copyTree } from '../io/copy-tree.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree, resolveInside } from '../io/files.ts'
import { homeDirectory } from '../io/host.ts'
import type { LiveRun } from '../store/contract.ts'
import { agentDirectory } from './agent-directory.ts'
import type { ParsedTask, TaskStep } from './contract.ts'
import { testsNow } from './editor/tests-now.ts'
import { editorWriteLimits } from './editor/write-limits.ts'
import { openFeed } from './journal/feed.ts'
import type { Journal } from './journal/open-journal.ts'
import { noLoops } from './loop/count.ts'
import { readStuckReport, type StuckContext } from './reports/read-stuck-report.ts'
import { ignoreAgentDirectory } from './snapshots/ignore-agent-directory.ts'
import type { Spending } from './spending.ts'
import { editorStates } from './states.ts'
import type { Baseline, Known, TaskInHand } from './task-in-hand.ts'
import type { TaskPowers, TaskRequest } from './task-request.ts'
import { openTree } from './tree/open-tree.ts'

export interface TaskGround {
  readonly request: TaskRequest
  readonly powers: TaskPowers
  readonly task: ParsedTask
  readonly run: LiveRun
  readonly journal: Journal
  readonly emit: (step: TaskStep) => void
  readonly spending: Spending
  readonly now: () => Date
}

/** Everything up to the moment at which there is something to work with; the work itself is opened by whoever goes on. */
export async function openTask(ground: TaskGround): Promise<Omit<TaskInHand, 'work'>> {
  const { request, powers, run, journal, emit } = ground
  const { home, scratch, shadow } = placesOf(run)
  for (const place of [home, scratch]) makeDirectories(place)
  const root = request.dryRun ? await copyRepository(ground) : request.repository
  if (!request.dryRun) ignoreOwn(ground)
  const leaveOut = [agentDirectory, ...storeInside(ground)]
  const tree = await openTree({ dir: shadow, root, leaveOut, env: powers.env })
  const baseline = await journal.step(
    'baseline',
    async (): Promise<Baseline> => ({ tree: await tree.take(), tests: await testsNow(root, request.steps) }),
  )
  const env = powers.env
  return {
    ...ground,
    tree,
    baseline,
    writeLimits: editorWriteLimits({
      root,
      artefacts: powers.store.root,
      scratch,
      home: homeDirectory(env),
      env,
      package: request.package,
    }),
    feed: openFeed(emit),
    states: editorStates(emit, (state) => powers.onChange({ phase: state })),
    signal: powers.signal,
    stuck: stuckContext(ground),
    known: nothingKnown(),
  }
}

/** Of the run directory; gone when the task has ended. */
export function placesOf({ dir }: LiveRun) {
  return {
    home: join(dir, 'home'),
    scratch: join(dir, 'tmp'),
    shadow: join(dir, 'shadow.git'),
    workspace: join(dir, 'workspace'),
  }
}

function nothingKnown(): Known {
  return {
    scoutA: null,
    scoutB: null,
    conventions: null,
    decisions: [],
    corrections: [],
    strategies: [],
    attempts: [],
    counters: noLoops,
    verification: null,
    diagnosis: null,
    account: '',
    weaker: [],
    notes: [],
    next: { edit: 1, scout_a: 1, scout_b: 1 },
  }
}

/** What a dry run works in. git's own directory stays where it is: a copy of it could lead back. */
async function copyRepository(ground: TaskGround): Promise<string> {
  const { request, run, journal, emit } = ground
  const { workspace } = placesOf(run)
  const own = storeInside(ground)
  await journal.step('workspace', async () => {
    removeTree(workspace)
    const left: string[] = []
    const { warnings } = await copyTree(request.repository, workspace, {
      exclude: (path, isDirectory) => {
        if (path === '.git' || path.endsWith('/.git') || own.includes(path)) return true
        if (isDirectory || resolveInside(request.repository, path).kind !== 'outside') return false
        left.push(`${path} leads out of the repository and was not copied`)
        return true
      },
    })
    for (const message of [...warnings, ...left]) emit({ kind: 'note', level: 'warning', message })
    return true
  })
  return workspace
}

/** What Gantry keeps while it works is no part of the work, also when somebody keeps it in the repository. */
function storeInside({ request, powers }: TaskGround): readonly string[] {
  const path = relative(request.repository, powers.store.root)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? [] : [path]
}

function ignoreOwn({ request, emit }: TaskGround): void {
  try {
    if (ignoreAgentDirectory(request.repository))
      emit({ kind: 'note', level: 'info', message: 'agent/ was added to .gitignore.' })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    emit({ kind: 'note', level: 'warning', message: `agent/ is not ignored by git: ${error.message}.` })
  }
}

/** Only of the same task, unless the person says that it is to go on from it. */
function stuckContext({ request, emit, journal }: TaskGround): StuckContext | null {
  // What the task began with stays, also when the report has been written anew since.
  const kept = journal.kept<{ readonly context: StuckContext | null }>('stuck')
  const found = kept === undefined ? readStuckReport(request.repository) : kept.context
  const isOurs =
    found !== null && (request.retry === true || sameText(found.description, request.description))
  const context = isOurs ? found : null
  if (kept === undefined) journal.keep('stuck', { context })
  if (context !== null)
    emit({
      kind: 'note',
      level: 'info',
      message: `An earlier attempt got stuck (${context.status.split('\n')[0]}); its report is shown to the Editor: ${context.hypotheses.length} hypotheses, ${context.runIds.length} runs.`,
    })
  else if (found !== null)
    emit({
      kind: 'note',
      level: 'info',
      message: 'agent/stuck_report.md is about another task and is left alone.',
    })
  return context
}

function sameText(one: string, other: string): boolean {
  const normal = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
  return normal(one) === normal(other)
}
