import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { shorten } from '../core/shorten.ts'
import { systemClock } from '../io/clock.ts'
import { exec } from '../io/exec.ts'
import { plainEnv } from '../io/shadow-repository.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import type { Store } from '../store/contract.ts'
import { flagRun } from '../store/flag-run.ts'
import { flagsOf, readManifestState } from '../store/manifest.ts'
import type { TaskFilter, TaskQueue, TaskRecord } from '../store/queue/contract.ts'
import { type Proposal, readProposal } from './dry-run/proposal.ts'
import { openTree } from './open-tree.ts'
import { branchOf } from './open-workspace.ts'
import { taskEvents } from './task-events.ts'
import { taskReports } from './task-reports.ts'

/** The change of a task that worked in its own tree is kept in its run directory, until the user applies, commits or drops it. */
export interface ChangePlace {
  readonly store: Store
  readonly queue: Pick<TaskQueue, 'append' | 'events'>
  readonly env: Readonly<Record<string, string | undefined>>
}

function verifiedChange(store: Store, task: TaskRecord): Proposal {
  const { id, state, dry_run } = task
  const proposal = ownChange(store, task)
  if (state === 'WEAKENED')
    throw new GantryError('WRONG_STATE', `task ${id} is WEAKENED`, {
      hint: `Look at it, then accept it with gantry task accept ${id}`,
    })
  if (!dry_run) return proposal
  throw new GantryError('WRONG_STATE', `task ${id} is a dry run: it has only a proposal`, {
    hint: `Apply and verify it: gantry task apply ${id}`,
  })
}

/** The change or proposal that a task ended with. */
function ownChange(store: Store, { id, state, options, task_run_id }: TaskRecord): Proposal {
  const proposal = task_run_id === null ? null : readProposal(store, task_run_id)
  const hasOne = state === 'SUCCESS' || state === 'WEAKENED'
  if (proposal !== null && hasOne) return proposal
  const why = hasOne
    ? options.here === true
      ? 'worked in your tree: its change is there'
      : 'is done, but its change is not in the store any longer'
    : (unfinished[state] ?? `is ${state}: it has no verified change`)
  throw new GantryError('WRONG_STATE', `task ${id} ${why}`, {
    hint: `See it with gantry task show ${id}`,
  })
}

const unfinished: Readonly<Partial<Record<TaskRecord['state'], string>>> = {
  QUEUED: 'has not started yet',
  RUNNING: 'has not ended yet',
  NO_CHANGE: 'changed nothing',
}

/** Where the change of a task is, from its events. */
export function changePlace(queue: Pick<TaskQueue, 'events'>, taskId: string) {
  let [isApplied, isDropped] = [false, false]
  let committed: { readonly branch: string; readonly commit?: string } | null = null
  for (const { event } of taskEvents(queue, taskId, 0, 'milestone')) {
    if (event.kind !== 'change') continue
    if (event.what === 'dropped') isDropped = true
    else if (event.what === 'committed')
      committed = { branch: event.branch ?? branchOf(taskId), ...defined({ commit: event.commit }) }
    else isApplied = event.what === 'applied'
  }
  return { isApplied, isDropped, committed }
}

/** For people; empty when nothing was done with it yet. */
export function changeWords({ isApplied, isDropped, committed }: ReturnType<typeof changePlace>): string {
  const { branch, commit } = committed ?? {}
  const as = commit === undefined ? '' : ` as ${commit.slice(0, 10)}`
  const words = [
    isApplied ? 'applied to your tree' : '',
    branch === undefined ? '' : `committed${as} on ${branch}`,
    isDropped ? 'dropped' : '',
  ]
  return words.filter((word) => word !== '').join(', ')
}

/**
 * Writes the change into the user's tree, or takes it out again: all of it, or nothing. Other changes in the same files stay. A dropped
 * change can be applied while its run is there. `isNew`: whether the tree was written.
 */
export async function applyChange(
  place: ChangePlace,
  task: TaskRecord,
  fate: 'applied' | 'undone' = 'applied',
): Promise<{ readonly files: readonly string[]; readonly isNew: boolean }> {
  const proposal = verifiedChange(place.store, task)
  using scratch = temporaryDirectory('gantry-apply-')
  const { repository: root } = task
  const tree = await openTree({ dir: scratch.path, root, leaveOut: [], env: place.env })
  const patch = Buffer.from(proposal.patch, 'base64')
  const [flags, opposite] = fate === 'applied' ? [[], ['--reverse']] : [['--reverse'], []]
  const merge = (how: readonly string[]): Promise<Buffer | null> =>
    tree.merged(patch, how, proposal.commit ?? null)
  const merged = async (): Promise<'new' | 'same' | null> => {
    const own = await merge(flags)
    if (own?.length === 0) return 'same'
    return own !== null && (await tree.apply(own)) === null ? 'new' : null
  }
  const isThere = async (): Promise<boolean> => (await tree.apply(patch, ['--check', ...opposite])) === null
  const isDone = async (): Promise<boolean> => (await isThere()) || (await merge(opposite)) !== null
  const wanted = fate === 'applied'
  const { isApplied } = changePlace(place.queue, task.id)
  // A patch may fit twice, as one that adds a line among equal ones.
  const isDoneBefore = isApplied === wanted && (await isThere())
  const problem = isDoneBefore ? '' : await tree.apply(patch, flags)
  const how = problem === null ? 'new' : isDoneBefore ? 'same' : await merged()
  if (how === null && !(await isDone()))
    throw new GantryError(
      'WRONG_STATE',
      `the change cannot be ${fate}, and nothing was changed:\n${problem}`,
      {
        hint:
          fate === 'undone'
            ? `The same lines have changed since. Undo it by hand, with gantry task show ${task.id} --diff`
            : `The same lines have changed since. Commit it on a branch and merge: gantry task commit ${task.id}`,
      },
    )
  const isNew = how === 'new'
  if (isNew || isApplied !== wanted) settleChange(place, task, fate)
  return { files: proposal.changes.map(({ path }) => path), isNew }
}

/** Commits the change on a new branch, on the commit that the task started from. Changes neither the tree nor the index nor HEAD, and runs no hook. */
export async function commitChange(
  place: ChangePlace,
  task: TaskRecord,
  { branch: named, message }: { readonly branch?: string; readonly message?: string } = {},
) {
  const { patch, commit: base } = verifiedChange(place.store, task)
  if (base == null)
    throw new GantryError('WRONG_STATE', `task ${task.id} did not start from a commit`, {
      hint: `Apply it to your tree: gantry task apply ${task.id}`,
    })
  using scratch = temporaryDirectory('gantry-commit-')
  const identity = Object.entries(place.env).filter(([name]) => /^GIT_(?:AUTHOR|COMMITTER)_/.test(name))
  const env = { ...plainEnv(place.env), ...Object.fromEntries(identity) }
  const git = async (args: readonly string[], stdin: string | Uint8Array = ''): Promise<string> => {
    const { exitCode, stdout, stderr, error } = await exec({
      argv: [
        'git',
        '-c',
        'core.hooksPath=/dev/null',
        '-c',
        'core.fsmonitor=false',
        '-c',
        'safe.directory=*',
        ...args,
      ],
      cwd: task.repository,
      env: { ...env, GIT_INDEX_FILE: join(scratch.path, 'index') },
      stdin,
    })
    if (exitCode === 0) return stdout.text.trim()
    throw new GantryError('USAGE', `the change cannot be committed: ${error ?? stderr.text.trim()}`, {
      hint: `Apply it to your tree and commit it there: gantry task apply ${task.id}`,
    })
  }
  const before = changePlace(place.queue, task.id)
  const branch = named ?? before.committed?.branch ?? branchOf(task.id)
  const isValid = await git(['check-ref-format', '--branch', branch]).then(
    (said) => said === branch,
    () => false,
  )
  if (!isValid)
    throw new GantryError('USAGE', `${branch} is not a valid name of a branch`, {
      hint: 'Give another name, or none for gantry/ and the id of the task.',
    })
  if ((await git(['for-each-ref', `refs/heads/${branch}`])) !== '')
    throw new GantryError(
      'WRONG_STATE',
      before.committed?.branch === branch
        ? `the change of ${task.id} is already ${changeWords({ ...before, isApplied: false, isDropped: false })}`
        : `there is already a branch ${branch}`,
      { hint: 'Name another branch to commit it there.' },
    )
  const [first = ''] = (message ?? task.description).trim().split('\n')
  const title = shorten(first, 72)
  const proof = task.run_ids.at(-1)
  const text = `${message ?? title}\n\nGantry-Task: ${task.id}\n${proof === undefined ? '' : `Gantry-Verification: ${proof}\n`}`
  await git(['read-tree', base])
  await git(['apply', '--cached', '--binary', '--whitespace=nowarn', '-'], Buffer.from(patch, 'base64'))
  const commit = await git(['commit-tree', await git(['write-tree']), '-p', base, '-F', '-'], text)
  await git(['update-ref', `refs/heads/${branch}`, commit, ''])
  settleChange(place, task, 'committed', { branch, commit })
  const { summary } = taskReports(place.store, task)
  return {
    branch,
    commit,
    title,
    /** For a pull request. */
    body: (summary ?? '').replace(/^.*?(?=## Task\n)/s, ''),
  }
}

const reason = 'its change is neither applied nor committed nor dropped'

/** Until the user decides, no retention removes the only copy of the change. */
export function keepChange(store: Store, runId: string): void {
  flagRun(store, runId, 'pinned', true, reason)
}

/** A pin of the user's stays. */
export function releaseChange(store: Store, runId: string): void {
  const state = readManifestState(join(store.runsDir, runId))
  if (state.kind === 'whole' && state.manifest.flag_reasons.pinned === reason)
    flagRun(store, runId, 'pinned', false)
}

/** Forgets ended tasks, except those that wait for the user: only through them can a kept change be applied, or a stuck task retried. */
export function clearHistory(
  { queue, store }: { readonly queue: TaskQueue; readonly store: Store },
  filter: Pick<TaskFilter, 'repository'> = {},
): { readonly forgotten: number; readonly kept: number } {
  const waiting = queue.list(filter).filter(({ state, task_run_id }) => {
    const isEnded = state !== 'QUEUED' && state !== 'RUNNING' && task_run_id !== null
    const manifest = isEnded ? readManifestState(join(store.runsDir, task_run_id)) : null
    return manifest?.kind === 'whole' && flagsOf(manifest.manifest).length > 0
  })
  const forgotten = queue.clearHistory({ ...filter, except: waiting.map(({ id }) => id) })
  return { forgotten, kept: waiting.length }
}

/** Stops keeping a change or a proposal that nothing was done with yet. */
export function dropChange(place: Pick<ChangePlace, 'store' | 'queue'>, task: TaskRecord): void {
  ownChange(place.store, task)
  const done = changeWords(changePlace(place.queue, task.id))
  if (done !== '')
    throw new GantryError('WRONG_STATE', `the change of ${task.id} is not kept: it is already ${done}`)
  settleChange(place, task, 'dropped')
}

function settleChange(
  { store, queue }: Pick<ChangePlace, 'store' | 'queue'>,
  { id, task_run_id }: TaskRecord,
  what: 'applied' | 'undone' | 'committed' | 'dropped',
  commit: { readonly branch?: string; readonly commit?: string } = {},
): void {
  const { isDropped, committed } = changePlace(queue, id)
  const isKept = what === 'undone' && !isDropped && committed === null
  if (task_run_id !== null) (isKept ? keepChange : releaseChange)(store, task_run_id)
  const event = { ts: systemClock.now().getTime() / 1000, task_id: id, kind: 'change', what, ...commit }
  queue.append(id, event, 'milestone')
}
