import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Directories and cgroups that carry this run id. */
export function bubblewrapLeftovers(
  runId: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const places = [
    join(env.XDG_CACHE_HOME ?? '', 'gantry/sandboxes/bubblewrap'),
    ...cgroups('/sys/fs/cgroup', 4),
  ]
  const found = places.flatMap((place) =>
    entriesOf(place)
      .filter(({ name }) => name.includes(runId))
      .map(({ name }) => join(place, name)),
  )
  return Promise.resolve(found)
}

function cgroups(directory: string, depth: number): readonly string[] {
  if (depth === 0) return []
  const below = entriesOf(directory).filter((entry) => entry.isDirectory())
  return [directory, ...below.flatMap(({ name }) => cgroups(join(directory, name), depth - 1))]
}

/** Empty for a directory that is gone: other tests remove theirs meanwhile. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
