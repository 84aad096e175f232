import { GantryError } from '../core/error.ts'
import { makeDirectories } from '../io/directory.ts'
import { resolveInside } from '../io/files.ts'

export const agentDirectory = 'agent'

/** Where a task leaves its papers in the repository. Never through a link that leads out of it. */
export function openAgentDirectory(root: string): string {
  const where = resolveInside(root, agentDirectory)
  if (where.kind === 'outside')
    throw new GantryError(
      'UNSAFE_PATH',
      `${agentDirectory}/ of the repository cannot be used: ${where.reason}`,
      {
        hint: 'Remove the link; Gantry keeps its reports of a task there.',
      },
    )
  makeDirectories(where.path)
  return where.path
}
