import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from '../io/directory.ts'
import { readTextInside, resolveInside, writeFileAtomic } from '../io/files.ts'
import { isDirectory } from '../io/path-kind.ts'

export const agentDirectory = 'agent'

/** Where a task writes its reports in the repository. A link that leads out of the repository is refused. */
export function openAgentDirectory(root: string): string {
  const path = checkAgentDirectory(root)
  makeDirectories(path)
  return path
}

/** Throws when the reports cannot be written there. Creates nothing. */
export function checkAgentDirectory(root: string): string {
  const where = resolveInside(root, agentDirectory)
  const why =
    where.kind === 'outside'
      ? where.reason
      : where.kind === 'inside' && !isDirectory(where.path)
        ? 'it is not a directory'
        : null
  if (where.kind !== 'outside' && why === null) return where.path
  throw new GantryError('UNSAFE_PATH', `${agentDirectory}/ in the repository cannot be used: ${why}`, {
    hint: 'Move it away. Gantry writes the reports of a task there.',
  })
}

const known = new Set(['agent', 'agent/', '/agent', '/agent/'])

/** Appends `agent/` to the repository's `.gitignore` unless it is already listed. Returns whether it was added. */
export function ignoreAgentDirectory(root: string): boolean {
  const found = readTextInside(root, '.gitignore')
  if (found.kind !== 'text' && found.kind !== 'missing')
    throw new GantryError(
      'UNSAFE_PATH',
      `${join(root, '.gitignore')} cannot be changed: it is not a plain text file in the repository`,
    )
  const text = found.kind === 'text' ? found.text : ''
  if (text.split('\n').some((line) => known.has(line.trim()))) return false
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const separator = text === '' || text.endsWith('\n') ? '' : eol
  writeFileAtomic(found.path, `${text}${separator}agent/${eol}`)
  return true
}
