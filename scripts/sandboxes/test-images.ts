import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../src/io/temporary-directory.ts'
import { writeRootFileSystem, writeShellLessFileSystem, writeSmallFileSystem } from './root-file-system.ts'

/** `noShell` has programs, but none of them is `sh`. */
export const testImages = { full: 'gantry-test:local', noShell: 'gantry-test-noshell:local' } as const

const label = 'gantry.recipe'

/** Rebuilt when the recipe or the project's Node changes. Returns the problem, or null. */
export function importImages(dockerHost: string): string | null {
  const recipe = recipeHash()
  const docker = ['-H', dockerHost]
  const present = spawnSync(
    'docker',
    [
      ...docker,
      ...['image', 'inspect', '--format', `{{index .Config.Labels "${label}"}}`],
      ...Object.values(testImages),
    ],
    { encoding: 'utf8' },
  )
  if (present.error !== undefined) return `the program docker cannot be started: ${present.error.message}`
  if (present.stdout.trim() === `${recipe}\n${recipe}`) return null
  console.log('Importing the images for tests …')
  try {
    importImage(docker, testImages.full, recipe, writeRootFileSystem)
    importImage(docker, testImages.noShell, recipe, writeShellLessFileSystem)
    return null
  } catch (cause) {
    return `the images cannot be imported: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

/** For an engine that lives as long as one test. */
export function importSmallImage(dockerHost: string, name: string): void {
  importImage(['-H', dockerHost], name, recipeHash(), writeSmallFileSystem)
}

function importImage(
  docker: readonly string[],
  name: string,
  recipe: string,
  write: (root: string) => void,
): void {
  using root = temporaryDirectory('gantry-image-')
  write(root.path)
  const changes = ['WORKDIR /workspace', 'ENV PATH=/usr/bin HOME=/tmp', `LABEL ${label}=${recipe}`]
  const flags = changes.flatMap((change) => ['--change', change])
  execFileSync('sh', [
    '-c',
    'tar -C "$0" --owner=0 --group=0 --numeric-owner -c . | docker "$@"',
    root.path,
    ...[...docker, 'import', ...flags, '-', name],
  ])
}

function recipeHash(): string {
  const hash = createHash('sha256').update(process.version)
  for (const file of ['root-file-system.ts', 'test-images.ts'])
    hash.update(readFileSync(join(import.meta.dirname, file)))
  return hash.digest('hex').slice(0, 16)
}
