import { join } from 'node:path'
import { moveEntries } from '../io/move-entries.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { makeSharedDirectory } from '../io/shared-directory.ts'

/** Of what steps left: an answer of a hundred thousand paths is of no use to anybody. */
const maxListed = 1000

/** What tests are led to write to, by the variable that tells them. */
export const redirected = {
  TMPDIR: 'tmp',
  TEST_DB_PATH: 'db',
  SNAPSHOT_DIR: 'snapshots',
} as const

/**
 * The directory that is `/artifacts` inside. It lies in the run directory and is not the run directory itself: the manifest, the
 * lock and the logs stand beside it, out of reach of every step.
 */
export function makeArtifacts(runDir: string): string {
  const artifacts = join(runDir, 'artifacts')
  makeSharedDirectory(artifacts)
  for (const name of Object.values(redirected)) makeSharedDirectory(join(artifacts, name))
  return artifacts
}

/**
 * Moves what the steps left into the run directory. What bears a name of Gantry's own stays in `artifacts/`, so that nothing a
 * step wrote is ever taken for a manifest or a log. Answers the paths a person may want to look at.
 */
export function publishArtifacts(runDir: string): readonly string[] {
  const artifacts = join(runDir, 'artifacts')
  for (const name of Object.values(redirected)) removeIfEmpty(join(artifacts, name))
  const { moved, stayed } = moveEntries(artifacts, runDir, (name) => !isOwnName(name))
  removeIfEmpty(artifacts)
  return [...moved, ...stayed].sort().slice(0, maxListed)
}

/** Names that Gantry gives to things in a run directory, in any spelling a file system may take for the same. */
function isOwnName(name: string): boolean {
  return /^(?:artifacts|inputs|logs|reports|trials|lock|(?:manifest|plan|summary|events|trials)\..*|\.trash-.*)$/i.test(
    name,
  )
}
