import type { ActiveTask, KeptVerification, OpenedTask } from './active-task.ts'
import type { TaskTree } from './open-tree.ts'
import { infra } from './task-halt.ts'
import { verifierFault, verify } from './verify-step.ts'

/** Under this name the journal has what is to be put back; null when nothing is. */
const altered = 'altered'

interface Altered {
  readonly tree: string
  readonly paths: readonly string[]
}

interface Alteration {
  /** Of the step in the journal. */
  readonly name: string
  /** The end of "Running the steps …". */
  readonly what: string
  readonly paths: readonly string[]
  /** Writes these paths. */
  readonly write: () => Promise<void>
  readonly env?: Readonly<Record<string, string>>
  readonly before?: string
}

/** Runs the steps on the verified tree with some files changed, and puts these back. */
export async function verifyAltered(
  active: ActiveTask,
  { tree: state }: KeptVerification,
  { name, what, paths, write, env = {}, before = '' }: Alteration,
): Promise<KeptVerification> {
  const { journal, known, emit } = active
  const attempt = known.attempts.length
  emit({ kind: 'note', level: 'info', message: `Running the steps ${what}...` })
  const run = await journal.step(`${name}-${attempt}`, async () => {
    journal.keep(altered, { tree: state, paths } satisfies Altered)
    try {
      await write()
      return await verify(active, attempt, { env, what, before })
    } finally {
      await putBackAltered(active)
    }
  })
  if (run.status === 'INFRA_ERROR') throw verifierFault(run)
  return run
}

/** Also when the task is opened again after its process died in such a run. */
export async function putBackAltered({ journal, tree }: Pick<OpenedTask, 'journal' | 'tree'>): Promise<void> {
  const left = journal.kept<Altered | null>(altered)
  if (left == null) return
  await putBackAll(tree, left.tree, left.paths)
  journal.keep(altered, null)
}

export async function putBackAll(
  tree: Pick<TaskTree, 'putBack'>,
  state: string,
  paths: readonly string[],
): Promise<void> {
  const [path] = await tree.putBack(state, paths)
  if (path !== undefined) throw notWritten(path)
}

export function notWritten(path: string) {
  const advice = 'Check that its directory can be written and that the disk is not full. Then retry the task.'
  return infra('Gantry', `${path} could not be written in the tree of the task`, advice)
}
