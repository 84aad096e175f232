import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'

/** Removes the directory of an engine that was killed: what it mounted is still mounted. */
export function removeEngine(directory: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((path) => path.startsWith(`${directory}/`))
  for (const path of mounts.reverse()) spawnSync('umount', ['--lazy', path])
  rmSync(directory, { recursive: true, force: true })
}
