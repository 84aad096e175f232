import { type ReadAgentFile, readAgentFile } from './agent-file.ts'
import { findRepository } from './find-repository.ts'

export interface FoundVerification {
  /** Real path. */
  readonly repository: string
  readonly agentFile: ReadAgentFile
}

/**
 * The repository around a directory and its agent.yaml: the nearest one upward, but never above the git working tree.
 * `configFile` replaces it; then the repository is the git working tree, or the directory itself without git.
 */
export function findVerification(directory: string, configFile?: string): FoundVerification {
  const repository = findRepository(directory, { named: configFile !== undefined })
  return { repository, agentFile: readAgentFile(repository, configFile) }
}
