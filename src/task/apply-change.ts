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
import { taskReports } from './task-reports.ts'

/** The change of a task that worked in its own tree is kept in its run directory, until the user applies, commits or drops it. */
export interface ChangePlace {
  readonly store: Store
  readonly queue: Pick<TaskQueue, 'append'>
  readonly env: Readonly<Record<string, string | undefined>>
}

function keptChange(store: Store, { id, state, dry_run, task_run_id }: TaskRecord): Proposal {
  const proposal = task_run_id === null ? null : readProposal(store, task_run_id)
  if (proposal !== null && state === 'SUCCESS' && !dry_run) return proposal
  const why = state !== 'SUCCESS' ? `it is ${state}` : dry_run ? 'it is a dry run' : 'it worked in your tree'
  throw new GantryError('USAGE', `task ${id} has no verified change that is kept: ${why}`, {
    hint:
      state === 'WEAKENED'
        ? `Accept it first: gantry task accept ${id}`
        : `See it with gantry task show ${id}.`,
  })
}

/** Writes the change into the user's tree, or takes it out again: all of it, or nothing. Other changes in the same files stay. Returns its files. */
export async function applyChange(
  place: ChangePlace,
  task: TaskRecord,
  fate: 'applied' | 'undone' = 'applied',
): Promise<readonly string[]> {
  const proposal = keptChange(place.store, task)
  using scratch = temporaryDirectory('gantry-apply-')
  const { repository: root } = task
  const tree = await openTree({ dir: scratch.path, root, leaveOut: [], env: place.env })
  const patch = Buffer.from(proposal.patch, 'base64')
  const [flags, opposite] = fate === 'applied' ? [[], ['--reverse']] : [['--reverse'], []]
  const merge = (how: readonly string[]): Promise<Buffer | null> =>
    tree.merged(patch, how, proposal.commit ?? null)
  const merged = async (): Promise<boolean> => {
    const own = await merge(flags)
    return own !== null && (await tree.apply(own)) === null
  }
  const isDone = async (): Promise<boolean> =>
    (await tree.apply(patch, ['--check', ...opposite])) === null || (await merge(opposite)) !== null
  const problem = await tree.apply(patch, flags)
  if (problem !== null && !(await merged()) && !(await isDone()))
    throw new GantryError('USAGE', `the change cannot be ${fate}, and nothing was changed:\n${problem}`, {
      hint:
        fate === 'undone'
          ? 'The same lines have changed since. Undo it by hand, with gantry task show --diff.'
          : `The same lines have changed since. Commit it on a branch and merge: gantry task commit ${task.id}`,
    })
  settleChange(place, task, fate)
  return proposal.changes.map(({ path }) => path)
}

/** Commits the change on a new branch, on the commit that the task started from. Changes neither the tree nor the index nor HEAD, and runs no hook. */
export async function commitChange(
  place: ChangePlace,
  task: TaskRecord,
  { branch = branchOf(task.id), message }: { readonly branch?: string; readonly message?: string } = {},
) {
  const { patch, commit: base } = keptChange(place.store, task)
  if (base == null)
    throw new GantryError('USAGE', `task ${task.id} did not start from a commit`, {
      hint: `Apply it to your tree: gantry task apply ${task.id}`,
    })
  using scratch = temporaryDirectory('gantry-commit-')
  const identity = Object.entries(place.env).filter(([name]) => /^GIT_(?:AUTHOR|COMMITTER)_/.test(name))
  const env = { ...plainEnv(place.env), ...Object.fromEntries(identity) }
  const git = async (args: readonly string[], stdin: string | Uint8Array = ''): Promise<string> => {
    const { exitCode, stdout, stderr, error } = await exec({
      argv: ['git', '-c', 'core.hooksPath=/dev/null', '-c', 'safe.directory=*', ...args],
      cwd: task.repository,
      env: { ...env, GIT_INDEX_FILE: join(scratch.path, 'index') },
      stdin,
    })
    if (exitCode === 0) return stdout.text.trim()
    throw new GantryError('USAGE', `the change cannot be committed: ${error ?? stderr.text.trim()}`, {
      hint: `Apply it to your tree and commit it there: gantry task apply ${task.id}`,
    })
  }
  const [title = ''] = task.description.trim().split('\n')
  const proof = task.run_ids.at(-1)
  const text = `${message ?? shorten(title, 72)}\n\nGantry-Task: ${task.id}\n${proof === undefined ? '' : `Gantry-Verification: ${proof}\n`}`
  await git(['read-tree', base])
  await git(['apply', '--cached', '--binary', '--whitespace=nowarn', '-'], Buffer.from(patch, 'base64'))
  const commit = await git(['commit-tree', await git(['write-tree']), '-p', base, '-F', '-'], text)
  await git(['update-ref', `refs/heads/${branch}`, commit, ''])
  settleChange(place, task, 'committed', branch)
  const { summary } = taskReports(place.store, task)
  return {
    branch,
    commit,
    title: shorten(title, 72),
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

export function settleChange(
  { store, queue }: Pick<ChangePlace, 'store' | 'queue'>,
  { id, task_run_id }: TaskRecord,
  what: 'applied' | 'undone' | 'committed' | 'dropped',
  branch?: string,
): void {
  if (task_run_id !== null) (what === 'undone' ? keepChange : releaseChange)(store, task_run_id)
  const event = defined({ ts: systemClock.now().getTime() / 1000, task_id: id, kind: 'change', what, branch })
  queue.append(id, event, 'milestone')
}
