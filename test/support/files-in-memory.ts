import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { roomInMemory } from '../../scripts/room-in-memory.ts'
import { isAlive } from './is-alive.ts'

/**
 * Puts the temporary files of all tests into memory where the machine has room: on a disk, tests mostly wait for it, and an overlay
 * that is unmounted waits until everything on the disk is written. The directory is removed at the end of this process.
 */
export function keepFilesInMemory(): void {
  const place = process.env.TMPDIR === undefined ? roomInMemory() : null
  if (place === null) return
  removeLeftovers(place)
  const directory = join(place, `gantry-${process.pid}`)
  mkdirSync(directory, { recursive: true })
  // As `/tmp`: some tests start programs as another user.
  chmodSync(directory, 0o1777)
  process.env.TMPDIR = directory
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
}

/** Of test runs that were killed. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^gantry-(\d+)$/.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // A container of the killed run still has it mounted.
    }
  }
}
