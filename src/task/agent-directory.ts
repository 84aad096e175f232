import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from '../io/directory.ts'
import { readTextInside, resolveInside, writeFileAtomic } from '../io/files.ts'
import { isDirectory } from '../io/path-kind.ts'

export const agentDirectory = 'agent'

/** Where a task leaves its papers in the repository. Never through a link that leads out of it. */
export function openAgentDirectory(root: string): string {
  const path = checkAgentDirectory(root)
  makeDirectories(path)
  return path
}

/** Throws when the papers could not be left there. Makes nothing. */
export function checkAgentDirectory(root: string): string {
  const where = resolveInside(root, agentDirectory)
  const why =
    where.kind === 'outside'
      ? where.reason
      : where.kind === 'inside' && !isDirectory(where.path)
        ? 'it is not a directory'
        : null
  if (where.kind !== 'outside' && why === null) return where.path
  throw new GantryError('UNSAFE_PATH', `${agentDirectory}/ of the repository cannot be used: ${why}`, {
    hint: 'Move it away; Gantry keeps its reports of a task there.',
  })
}

const known = new Set(['agent', 'agent/', '/agent', '/agent/'])

/** Appends `agent/` to the repository's `.gitignore` unless a line of it says so already; tells whether it did. */
export function ignoreAgentDirectory(root: string): boolean {
  const found = readTextInside(root, '.gitignore')
  if (found.kind !== 'text' && found.kind !== 'missing')
    throw new GantryError(
      'UNSAFE_PATH',
      `${join(root, '.gitignore')} cannot be changed: it is not a plain text file of the repository`,
    )
  const text = found.kind === 'text' ? found.text : ''
  if (text.split('\n').some((line) => known.has(line.trim()))) return false
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const separator = text === '' || text.endsWith('\n') ? '' : eol
  writeFileAtomic(found.path, `${text}${separator}agent/${eol}`)
  return true
}
