import { join, posix } from 'node:path'
import { z } from 'zod'
import { readJsonIfExists } from '../../io/files.ts'
import { sha256 } from '../../io/sha256.ts'
import type { Store } from '../../store/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import type { TaskTree } from '../open-tree.ts'

const changeSchema = z.strictObject({
  path: z.string().min(1).refine(isPlain, { error: 'the path leads out of the repository' }),
  change: z.enum(['added', 'modified', 'deleted']),
  /** Digest of the original content and mode; null for a new file. */
  original: z.string().nullable(),
})

/** What a dry run would change. `gantry task apply` or `git apply` applies it. */
export const proposalSchema = z.strictObject({
  schema_version: z.literal('1'),
  task_id: z.string(),
  run_id: z.string(),
  description: z.string(),
  strategy: z.string(),
  /** The commit of the repository that the tree was made from. */
  commit: z.string().nullish(),
  changes: z.array(changeSchema),
  /** Of a dry run. `weakened`: why passed steps prove less than before. */
  verification: z
    .strictObject({
      status: z.enum(['PASS', 'FAIL', 'INFRA_ERROR']),
      run_id: z.string().nullable(),
      failure: z.string().nullable(),
      weakened: z.array(z.string()),
    })
    .optional(),
  /** Unified diff in git's format, for people. */
  diff: z.string(),
  /** The same diff in base64, so text in any encoding survives. */
  patch: z.base64(),
})

export type Proposal = z.output<typeof proposalSchema>

export interface ProposalFacts {
  readonly taskId: string
  readonly runId: string
  readonly description: string
  readonly strategy: string
  readonly commit: string | null
}

/** The difference between two states of the copy the Editor worked in. */
export async function makeProposal(
  tree: TaskTree,
  from: string,
  to: string,
  { taskId, runId, description, strategy, commit }: ProposalFacts,
): Promise<Proposal> {
  const paths = await tree.changes(from, to)
  const [originals, results] = await Promise.all([fingerprints(tree, from, paths), tree.entries(to, paths)])
  const patch = await tree.patch(from, to)
  return {
    schema_version: '1',
    task_id: taskId,
    run_id: runId,
    description,
    strategy,
    commit,
    changes: [...paths].sort().map((path) => {
      const original = originals.get(path) ?? null
      const change = original === null ? 'added' : results.has(path) ? 'modified' : 'deleted'
      return { path, change, original }
    }),
    diff: patch.toString('utf8'),
    patch: patch.toString('base64'),
  }
}

/** null when the run has none that can be read. */
export function readProposal({ runsDir }: Pick<Store, 'runsDir'>, runId: string): Proposal | null {
  const path = join(runFile.reports(join(runsDir, runId)), 'proposal.json')
  return proposalSchema.safeParse(readJsonIfExists(path)).data ?? null
}

/** Mode and content, independent of the repository's object format. */
export async function fingerprints(
  tree: TaskTree,
  state: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const [path, { mode, id }] of await tree.entries(state, paths))
    found.set(path, `${mode}:${mode === '160000' ? id : sha256(await tree.read(id))}`)
  return found
}

/** Relative, already normalized, and not inside `.git`. */
function isPlain(path: string): boolean {
  if (path.includes('\0') || path.startsWith('/') || posix.normalize(path) !== path) return false
  return !path.split('/').some((step) => step === '..' || step === '.' || step.toLowerCase() === '.git')
}
