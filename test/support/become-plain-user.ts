import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { needs } from './needs.ts'

const nobody = 65_534

/**
 * Drops root for the rest of this process; it cannot be undone. Only for a test file that runs in its own process. Returns false, with a
 * skipped test, when that user cannot enter the checkout, as below the home of root: it starts programs from there.
 */
export function becomePlainUser(): boolean {
  if (process.getuid?.() !== 0) return true
  if (!isOpen(import.meta.dirname)) {
    needs('checkout that other users can enter', false, { mayLack: true })('as a plain user', () => {})
    return false
  }
  process.setgroups?.([])
  process.setgid?.(nobody)
  process.setuid?.(nobody)
  return true
}

function isOpen(directory: string): boolean {
  const above = dirname(directory)
  return (statSync(directory).mode & 0o001) !== 0 && (above === directory || isOpen(above))
}
