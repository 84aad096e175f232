import { dirname, join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { findGitTop } from '../io/find-git-top.ts'
import { isDirectory, isMissing } from '../io/path-kind.ts'
import { realPath } from '../io/real-path.ts'
import { agentFileName, type ReadAgentFile, readAgentFile } from '../verifier/agent-file.ts'

export interface FoundVerification {
  /** Real path. */
  readonly repository: string
  readonly agentFile: ReadAgentFile
}

/**
 * The repository around a directory and its agent.yaml: the nearest one upward, and never above the top of the git working tree.
 * `configFile` is read instead; the repository is then the git working tree, or the directory itself where there is none.
 */
export function findVerification(directory: string, configFile?: string): FoundVerification {
  if (!isDirectory(directory)) {
    throw new GantryError('NOT_FOUND', `${directory} is no directory`, {
      hint: 'Name the repository with --root DIR.',
    })
  }
  const start = realPath(resolve(directory))
  const top = findGitTop(start)
  const repository = (configFile === undefined ? upward(start, top) : null) ?? top ?? start
  return { repository, agentFile: readAgentFile(repository, configFile) }
}

function upward(start: string, top: string | null): string | null {
  for (let here = start; ; here = dirname(here)) {
    // Whatever stands there, even a link that leads nowhere, is what the user means: reading it tells what is wrong.
    if (!isMissing(join(here, agentFileName))) return here
    if (here === top || here === dirname(here)) return null
  }
}
