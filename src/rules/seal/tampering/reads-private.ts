import { basename, dirname } from 'node:path'
import { guardHome } from '../../guard-home.ts'
import { fold, isInside } from '../own-match.ts'
import type { Attempt, Tampering } from './attempt.ts'

/** The ledger, its key and the helper's socket: an agent has no business there, not even to read. */
export const readsPrivate: Tampering = (attempt) => {
  const { call, runs } = attempt
  const home = privateDirectories(attempt)
  const isPrivate = (path: string): boolean => home.some((directory) => isInside(fold(path), directory))
  const sentence = "the call would look into the guard's own home, where its ledger and key are"
  const { action } = call
  if (action.kind === 'read') {
    const named = action.path === null ? [] : attempt.pathsOf(action.path)
    return named.some((path) => isPrivate(path) || isPrivate(attempt.world.resolve(path).real))
      ? sentence
      : null
  }
  // A bare name means something in there only from a directory close by.
  const isClose = attempt
    .pathsOf('.')
    .some((directory) => home.some((top) => isInside(dirname(top), fold(directory))))
  for (const { words, loose } of runs) {
    for (const word of words) {
      if (word === null || !(isClose || /[/~$]/.test(word))) continue
      const path = word.replace(/^[^/~$]*[=@]/, '')
      if (attempt.pathsOf(path).some((meant) => isPrivate(meant) || globMeets(meant, home))) return sentence
      if (loose && home.some((directory) => fold(word).includes(directory))) return sentence
    }
  }
  if (action.kind === 'shell') {
    const inputs = [...attempt.text.matchAll(/<\s*["']?([^\s"'<>|;&()]+)/g)].flatMap(([, path = '']) =>
      attempt.pathsOf(path),
    )
    if (inputs.some(isPrivate)) return sentence
  }
  const named = /\$\{?GANTRY_GUARD_HOME\b/.test(attempt.text) && action.kind === 'shell'
  return named && runs.some(({ words }) => !/^(echo|printf)$/.test(words[0] ?? '')) ? sentence : null
}

function privateDirectories({ world }: Attempt): readonly string[] {
  const home = guardHome({ ...world.env, HOME: world.home })
  const above = dirname(home)
  const top = basename(above) === 'gantry' ? above : home
  return [...new Set([top, world.resolve(top).real].map(fold))]
}

function globMeets(path: string, directories: readonly string[]): boolean {
  const stars = path.search(/[*?[{]/)
  if (stars < 0) return false
  const prefix = fold(path.slice(0, stars))
  // Home and what is above it hold too much to be meant; a pattern further in may well mean the guard.
  return directories.some((directory) => directory.startsWith(prefix) && prefix.split('/').length > 4)
}
