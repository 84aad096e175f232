import { join } from 'node:path'
import { fileStamp, readTextIfExists } from '../../io/directory.ts'
import { deviceOf, ownUser } from '../../io/file-owner.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { sha256 } from '../../io/sha256.ts'
import type { SandboxRequest } from '../contract.ts'
import { discardStale, type SandboxState } from '../state.ts'

/** A note that a sandbox like this one could be made on this machine since it was started, so that it need not be tried again. */
export interface Proof {
  /** The engine's version then; null when it was never tried. */
  version(): string | null
  remember(version: string): void
  /** It does not hold any more. */
  forget(): void
}

/** Everything that decides whether a sandbox can be made goes into the name of the note. */
export function proofFor(
  request: SandboxRequest,
  programs: { readonly bwrap: string; readonly perl: string },
  state: SandboxState,
): Proof {
  const { image, workspace, network, caches, env, repository, artifacts } = request
  const places = [state.directory, repository, artifacts, ...caches.map(({ source }) => source)]
  const facts = [
    ownUser(),
    ...[programs.bwrap, programs.perl].map((program) => [program, fileStamp(program)]),
    ...[image, workspace, network, caches, env.PATH, env.HOME],
    places.map(deviceOf),
  ]
  const file = join(state.shared, `proven-${sha256(JSON.stringify(facts)).slice(0, 32)}`)
  return {
    version: () => readTextIfExists(file),
    remember: (version) => {
      writeFileAtomic(file, version)
      discardStale(state.shared)
    },
    forget: () => removeTree(file),
  }
}
