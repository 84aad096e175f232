import { plainAgentFile } from '../verifier/plain-agent-file.ts'
import { findRepository } from './find-repository.ts'
import type { FoundVerification } from './find-verification.ts'

/** What `findVerification` answers. The parser and the schema are loaded only for a file that needs them. */
export async function loadVerification(directory: string, configFile?: string): Promise<FoundVerification> {
  if (configFile === undefined) {
    const repository = findRepository(directory)
    const agentFile = plainAgentFile(repository)
    if (agentFile !== null) return { repository, agentFile }
  }
  const { findVerification } = await import('./find-verification.ts')
  return findVerification(directory, configFile)
}
