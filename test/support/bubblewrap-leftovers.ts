import { existsSync, readdirSync } from 'node:fs'
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
    existsSync(place)
      ? readdirSync(place)
          .filter((name) => name.includes(runId))
          .map((name) => join(place, name))
      : [],
  )
  return Promise.resolve(found)
}

function cgroups(directory: string, depth: number): readonly string[] {
  if (depth === 0) return []
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [directory, ...below.flatMap(({ name }) => cgroups(join(directory, name), depth - 1))]
}
