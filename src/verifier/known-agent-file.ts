import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { asObject, parseJson } from '../core/json-fields.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { fileStamp, readTextIfExists } from '../io/directory.ts'
import { findProgram } from '../io/find-program.ts'
import { oldGitError } from '../io/git-repository.ts'
import { writePrivateFileAtomic } from '../io/private-files.ts'
import { sha256 } from '../io/sha256.ts'
import type { ReadAgentFile } from './agent-file.ts'
import { type AgentFile, agentFileName } from './contract.ts'

/**
 * Reads agent.yaml as `readAgentFile` does, and refuses a git that is too old. If neither the file, git nor Gantry has changed since the
 * last time, its reader is not loaded: that takes longer than everything else in a short verification. The last result is in the guard's home, because agents cannot write
 * there. `program` identifies the code of the reader; null when it may change without a new name.
 */
export async function readKnownAgentFile(
  repository: string,
  env: Readonly<Record<string, string>>,
  path: string = join(repository, agentFileName),
  program: string | null = builtProgram,
): Promise<ReadAgentFile> {
  const place = join(guardHome(env), 'agent-files', `${sha256(path).slice(0, 32)}.json`)
  const known = program === null ? null : asObject(parseJson(readTextIfExists(place) ?? ''))
  const text = known === null ? null : readTextIfExists(path)
  const git = findProgram('git', env.PATH ?? '')
  const keyOf = (content: string): string =>
    sha256(JSON.stringify([program, content, git, git && fileStamp(git)]))
  if (known !== null && text !== null && known.key === keyOf(text))
    return { path, text, sha256: sha256(text), file: known.file as AgentFile }
  const old = await oldGitError(env)
  if (old !== null) throw old
  const { readAgentFile } = await import('./agent-file.ts')
  const read = readAgentFile(repository, path)
  // A package has to be looked for each time.
  if (program !== null && read.file.package === null)
    remember(place, { key: keyOf(read.text), file: read.file })
  return read
}

/** The name of a bundle contains a hash of its content. */
const builtProgram = import.meta.url.endsWith('.js') ? import.meta.url : null

function remember(place: string, value: unknown): void {
  try {
    writePrivateFileAtomic(place, JSON.stringify(value))
  } catch (error) {
    // The next run reads agent.yaml again.
    if (!(error instanceof GantryError)) throw error
  }
}
