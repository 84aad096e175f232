import { join } from 'node:path'
import { isTooDeep } from '../io/directory.ts'
import { moveEntries } from '../io/move-entries.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import { makeSharedDirectory } from '../io/shared-directory.ts'

/** Limits the reported paths: a list of a hundred thousand would be useless. */
const maxListed = 1000

/** Directories for tests, by the variable that contains the path. */
export const redirected = { TMPDIR: 'tmp', TEST_DB_PATH: 'db', SNAPSHOT_DIR: 'snapshots' } as const

/**
 * The directory that is `/artifacts` inside the sandbox. It is below the run directory, so that no step can reach the
 * manifest, the lock and the logs.
 */
export function makeArtifacts(runDir: string): string {
  const artifacts = join(runDir, 'artifacts')
  makeSharedDirectory(artifacts)
  for (const name of Object.values(redirected)) makeSharedDirectory(join(artifacts, name))
  return artifacts
}

/**
 * Moves what the steps left into the run directory. Anything with a name that Gantry uses stays in `artifacts/`, so that no output of a
 * step is mistaken for a manifest or a log. Returns the paths that a person may want to look at, and what is wrong with them.
 */
export function publishArtifacts(runDir: string) {
  const artifacts = join(runDir, 'artifacts')
  for (const name of Object.values(redirected)) removeIfEmpty(join(artifacts, name))
  const { moved, stayed } = moveEntries(artifacts, runDir, (name) => !isOwnName(name))
  removeIfEmpty(artifacts)
  const paths = [...moved, ...stayed].sort().slice(0, maxListed)
  const problems = paths
    .filter(isTooDeep)
    .map(
      (path) =>
        `${path} has directories that are nested too deeply to be opened by a path; remove it with rm -rf.`,
    )
  return { paths, problems }
}

/** Names that Gantry uses in a run directory, in any spelling that a file system may treat as the same. */
function isOwnName(name: string): boolean {
  return /^(?:artifacts|inputs|logs|reports|trials|lock|(?:manifest|plan|summary|events|trials)\..*|\.trash-.*)$/i.test(
    name,
  )
}
