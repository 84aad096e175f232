import { basename, dirname } from 'node:path'
import { guardHome } from '../../guard-home.ts'
import { fold, isInside } from '../own-match.ts'
import type { Attempt, Tampering } from './attempt.ts'
import { nameOf, programAt } from './spoken-runs.ts'

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
      const path = word.replace(/^[^/~$]*[=@:]/, '')
      if (attempt.pathsOf(path).some((meant) => isPrivate(meant) || globMeets(meant, home))) return sentence
      if (loose && home.some((directory) => fold(word).includes(directory))) return sentence
    }
  }
  if (
    action.kind === 'unknown' &&
    textsIn(call.input).some((text) => attempt.pathsOf(asPath(text)).some(isPrivate))
  )
    return sentence
  const taken = runs.flatMap((run) => {
    const at = programAt(run, (name) => takers.has(name))
    const words = run.words.slice(at + 1)
    const packs =
      !/tar$|^cpio$/.test(nameOf(run.words[at])) ||
      words.some((word) => /^-?[a-zA-Z]*[cru]|^--create$/.test(word ?? ''))
    return at < 0 || run.loose || !packs ? [] : words
  })
  if (taken.some((word) => word !== null && takesAlong(word, attempt, home)))
    return `${sentence}: it would be copied along with the directory it is in`
  if (action.kind === 'shell') {
    const inputs = [...attempt.text.matchAll(/<\s*["']?([^\s"'<>|;&()]+)/g)].flatMap(([, path = '']) =>
      attempt.pathsOf(path),
    )
    if (inputs.some(isPrivate)) return sentence
  }
  const named = /\$\{?GANTRY_GUARD_HOME\b/.test(attempt.text) && action.kind === 'shell'
  return named && runs.some(({ words }) => !/^(echo|printf)$/.test(words[0] ?? '')) ? sentence : null
}

/** Programs that take everything below a directory somewhere else. */
const takers = new Set('tar gtar bsdtar zip 7z rsync scp cpio'.split(' '))

function takesAlong(word: string, attempt: Attempt, home: readonly string[]): boolean {
  return attempt
    .pathsOf(word)
    .some((path) => path !== '/' && home.some((directory) => isInside(directory, fold(path))))
}

/** Texts in the input of a tool nothing is known of, within bounds. */
function textsIn(input: unknown, depth = 0): readonly string[] {
  if (typeof input === 'string') return input.length < 4096 ? [input] : []
  if (typeof input !== 'object' || input === null || depth > 6) return []
  return Object.values(input)
    .slice(0, 100)
    .flatMap((value) => textsIn(value, depth + 1))
}

function asPath(text: string): string {
  return text.replace(/^file:\/\/[^/]*/i, '')
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
