import { GantryError } from '../core/error.ts'
import { writeFileAtomic } from '../io/files.ts'
import type { KeptVerification } from './kept-verification.ts'
import type { InfrastructureFault } from './reports/stuck-facts.ts'
import { removeStuckReport, stuckReport, writeStuckReport } from './reports/stuck-report.ts'
import type { ChangedFile } from './reports/success-summary.ts'
import { successSummary } from './reports/success-summary.ts'
import { resolveStuckRuns } from './resolve-stuck-runs.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { currentStrategy, type TaskInHand } from './task-in-hand.ts'
import type { TaskTree } from './tree/open-tree.ts'

/** The papers of a task that is done. */
export async function endSuccessful(hand: TaskInHand, verification: KeptVerification): Promise<string> {
  const { journal, known, tree, baseline, request, task, run, powers, now } = hand
  await takeSnapshot(hand, 'task_success')
  const summary = await journal.step('summary', async () =>
    powers.redaction.text(
      successSummary({
        task,
        description: request.description,
        at: now(),
        filesModified: await changedFiles(tree, baseline.tree, verification.tree),
        what: known.account,
        strategy: currentStrategy(hand),
        runId: verification.runId ?? '',
        steps: verification.steps,
        attempts: known.attempts.length,
        replans: known.counters.replans,
        sandbox: request.sandbox,
        notes: known.notes,
      }),
    ),
  )
  writeFileAtomic(run.reportPath('summary.md'), summary)
  writeFileAtomic(
    run.reportPath('changes.patch'),
    withoutSecrets(await tree.patch(baseline.tree, verification.tree), powers),
  )
  if (hand.stuck !== null) {
    removeStuckReport(request.repository)
    resolveStuckRuns(powers.store, request.repository, hand.stuck)
  }
  return summary
}

/** Byte for byte, so that git can apply it elsewhere, unless a secret is in it: that is kept nowhere. */
function withoutSecrets(patch: Uint8Array, { redaction }: TaskInHand['powers']): string | Uint8Array {
  const text = Buffer.from(patch).toString('latin1')
  return redaction.text(text) === text ? patch : redaction.text(Buffer.from(patch).toString('utf8'))
}

/** What is known of a task that is given up; parts of it may never have been opened. */
export type GivenUp = Pick<TaskInHand, 'request' | 'task' | 'run' | 'powers' | 'emit' | 'now'> &
  Partial<Pick<TaskInHand, 'known' | 'tree' | 'baseline'>>

/** Writes the stuck report; answers its path. That of a dry run, which leaves the repository alone, is in its run directory. */
export async function endStuck(
  given: GivenUp,
  status: 'STUCK' | 'INFRA_ERROR',
  infrastructure: InfrastructureFault | null,
): Promise<string> {
  const { request, task, run, powers, known, emit, now } = given
  const failedStep = known?.verification?.failedStep
  const text = powers.redaction.text(
    stuckReport({
      task,
      description: request.description,
      at: now(),
      status,
      infrastructure,
      attempts: known?.attempts ?? [],
      strategies: known?.strategies ?? [],
      filesModified: await modifiedSoFar(given),
      lastLog: known?.verification?.log ?? '',
      ...(failedStep !== null && failedStep !== undefined && { failedStep }),
      diagnosis: known?.diagnosis ?? null,
      corrections: known?.corrections ?? [],
    }),
  )
  const copy = run.reportPath('stuck_report.md')
  writeFileAtomic(copy, text)
  if (request.dryRun) return copy
  try {
    return writeStuckReport(request.repository, text)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    const message = `The stuck report could not be written into the repository: ${error.message}. It is in ${copy}.`
    emit({ kind: 'note', level: 'error', message })
    return copy
  }
}

async function modifiedSoFar({ tree, baseline }: GivenUp): Promise<readonly string[]> {
  if (tree === undefined || baseline === undefined) return []
  try {
    return await tree.changes(baseline.tree, await tree.take())
  } catch (error) {
    // Whatever broke may have broken this too; the report is worth more than the list.
    if (error instanceof GantryError) return []
    throw error
  }
}

async function changedFiles(tree: TaskTree, from: string, to: string): Promise<readonly ChangedFile[]> {
  const paths = await tree.changes(from, to)
  const [before, after] = await Promise.all([tree.entries(from, paths), tree.entries(to, paths)])
  return paths.map((path) => ({
    path,
    change: !before.has(path) ? 'added' : after.has(path) ? 'modified' : 'deleted',
  }))
}
