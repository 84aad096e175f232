import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readTextInside, writeFileAtomic } from '../../io/files.ts'

const known = new Set(['agent', 'agent/', '/agent', '/agent/'])

/** Appends `agent/` to the repository's `.gitignore` unless a line of it says so already; tells whether it did. */
export function ignoreAgentDirectory(root: string): boolean {
  const found = readTextInside(root, '.gitignore')
  if (found.kind !== 'text' && found.kind !== 'missing')
    throw new GantryError(
      'UNSAFE_PATH',
      `${join(root, '.gitignore')} cannot be changed: it is no plain text file of the repository`,
    )
  const text = found.kind === 'text' ? found.text : ''
  if (text.split('\n').some((line) => known.has(line.trim()))) return false
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const separator = text === '' || text.endsWith('\n') ? '' : eol
  writeFileAtomic(found.path, `${text}${separator}agent/${eol}`)
  return true
}
