import { glob } from 'tinyglobby'

/** Absolute paths of the matching files, sorted, so a plan is the same on every machine. */
export async function findFiles(patterns: readonly string[], cwd: string): Promise<string[]> {
  const found = await glob([...patterns], {
    cwd,
    absolute: true,
    onlyFiles: true,
    ignore: ['**/node_modules/**', '**/.git/**'],
    expandDirectories: false,
  })
  return found.sort()
}
