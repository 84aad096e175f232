import { join, resolve } from 'node:path'
import { isDirectory } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/** Where git keeps what belongs to a working tree. Both are one but for a linked worktree. */
export interface GitDirectories {
  /** Of this working tree alone. */
  readonly own: string
  /** Of all that share it: configuration, hooks, objects. */
  readonly common: string
}

/** null when `top` is not the top of a working tree. Reads what git would read, without git. */
export function gitDirectories(top: string): GitDirectories | null {
  const entry = join(top, '.git')
  const own = isDirectory(entry) ? entry : linked(top, readShortText(entry, maxBytes))
  if (own === null) return null
  const common = (readShortText(join(own, 'commondir'), maxBytes) ?? '').trim()
  return { own, common: common === '' ? own : resolve(own, common) }
}

const maxBytes = 65_536

function linked(top: string, text: string | null): string | null {
  const link = /^gitdir: (.+)$/m.exec(text ?? '')?.[1]
  return link === undefined ? null : resolve(top, link.trim())
}
