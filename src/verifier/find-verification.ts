import { type ReadAgentFile, readAgentFile } from './agent-file.ts'
import { findRepository } from './find-repository.ts'

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
  const repository = findRepository(directory, { named: configFile !== undefined })
  return { repository, agentFile: readAgentFile(repository, configFile) }
}
