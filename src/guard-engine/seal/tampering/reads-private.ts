import { basename, dirname, sep } from 'node:path'
import { guardHome } from '../../ledger/ledger-place.ts'
import { filesBelow, fold, isInside } from '../guarded-path-matcher.ts'
import { nameOf, programAt, type TamperAttempt, type Tampering } from './attempt.ts'
import { interpreters } from './names-own.ts'
import { readBelow } from './read-below.ts'

/** The ledger, its key and the helper's socket: an agent must not even read them. */
export const readsPrivate: Tampering = (attempt) => {
  const { call, runs } = attempt
  const home = privateDirectories(attempt)
  const isPrivate = (path: string): boolean => home.some((directory) => isInside(fold(path), directory))
  const sentence = "the call would read the guard's home directory, which has its ledger and key"
  const { action } = call
  if (action.kind === 'read') {
    const named = action.path === null ? [] : attempt.pathsOf(action.path)
    return named.some((path) => isPrivate(path) || isPrivate(attempt.world.resolve(path).real))
      ? sentence
      : null
  }
  // A bare name refers to a file in there only from a nearby directory.
  const places = attempt.pathsOf('.').map(fold)
  const isClose = places.some((place) =>
    home.some((top) => isInside(dirname(top), place) || isInside(place, top)),
  )
  const leadsThere = wayThere(places, home)
  const below = home
    .flatMap((top) => top.split(`${fold(attempt.world.home)}/`)[1] ?? [])
    .filter((way) => way.includes('/'))
  for (const run of runs) {
    const { words, loose } = run
    const isCode = programAt(run, (name) => interpreters.test(name)) >= 0
    for (const word of words) {
      if (word === null || !(isClose || /[/~$]/.test(word))) continue
      const path = /[=@:]/.test(word) ? word.replace(/^[^/~$]*[=@:]/, '') : word
      const meets = (meant: string): boolean => isPrivate(meant) || globMeets(meant, home)
      if (leadsThere(path) && attempt.pathsOf(path).some(meets)) return sentence
      // Code may join the way to it with the home directory.
      if ((isCode ? [...home, ...below] : loose ? home : []).some((way) => joined(word).includes(way)))
        return sentence
    }
  }
  if (
    action.kind === 'unknown' &&
    textsIn(call.input).some((text) => attempt.pathsOf(text.replace(/^file:\/\/[^/]*/i, '')).some(isPrivate))
  )
    return sentence
  if (givesPrivate(attempt, home)) return `${sentence}: the search finds files in it`
  const takesAlong = (run: (typeof runs)[number]): boolean => {
    const { words, skipsHidden } = readBelow(run)
    return words.flatMap(attempt.pathsOf).some((path) => isAbove(path, home, skipsHidden))
  }
  if (runs.some(takesAlong)) return `${sentence}: it would be read with the directory around it`
  if (action.kind === 'shell' && attempt.text.includes('<')) {
    const inputs = [...attempt.text.matchAll(/<\s*["']?([^\s"'<>|;&()]+)/g)].flatMap(([, path = '']) =>
      attempt.pathsOf(path),
    )
    if (inputs.some(isPrivate)) return sentence
  }
  if (action.kind !== 'shell' || !attempt.text.includes('GANTRY_GUARD_HOME')) return null
  const named = /\$\{?GANTRY_GUARD_HOME\b/.test(attempt.text)
  const asksFor = (run: (typeof runs)[number]): boolean =>
    named
      ? !/^(echo|printf)$/.test(run.words[0] ?? '')
      : programAt(run, (name) => name === 'printenv' || interpreters.test(name)) >= 0 &&
        run.words.some((word) => /GANTRY_GUARD_HOME(?!=)/.test(word ?? ''))
  return runs.some(asksFor) ? sentence : null
}

/** A search that begins above the directory finds a file in it, and a program that shows more than names gets the result. */
function givesPrivate({ targets, world }: TamperAttempt, home: readonly string[]): boolean {
  const given = (targets.searched ?? []).filter(({ program }) => !listers.has(nameOf(program)))
  if (given.length === 0) return false
  const found = given.filter(({ roots }) =>
    roots.some((root) =>
      home.some((directory) => isInside(directory, fold(root)) || isInside(fold(root), directory)),
    ),
  )
  const files = found.length === 0 ? [] : filesBelow(guardTop(world), world)
  return found.some(({ matches }) => files.some((file) => matches(file)))
}

/** Programs that show only the names of files, or facts about them. */
const listers = new Set(
  'echo printf ls stat du wc basename dirname realpath readlink test [ [[ find sort head tail touch mkdir cd'.split(
    ' ',
  ),
)

/** `'a/' + 'b'` in code as `'a/b'`. */
function joined(code: string): string {
  return fold(code).replaceAll(/(['"`])\s*\+\s*\1/g, '')
}

function isAbove(path: string, home: readonly string[], skipsHidden: boolean): boolean {
  const top = fold(path)
  return home.some(
    (directory) =>
      top !== '/' && isInside(directory, top) && !(skipsHidden && directory.slice(top.length).includes('/.')),
  )
}

/** Texts in the input of an unknown tool, up to a limit. */
function textsIn(input: unknown, depth = 0): readonly string[] {
  if (typeof input === 'string') return input.length < 4096 ? [input] : []
  if (typeof input !== 'object' || input === null || depth > 6) return []
  return Object.values(input)
    .slice(0, 100)
    .flatMap((value) => textsIn(value, depth + 1))
}

function guardTop(world: TamperAttempt['world']): string {
  const home = guardHome({ ...world.env, HOME: world.home })
  const above = dirname(home)
  return basename(above) === 'gantry' ? above : home
}

function privateDirectories({ world }: TamperAttempt): readonly string[] {
  const top = guardTop(world)
  return [...new Set([top, world.resolve(top).real].map(fold))]
}

/**
 * Whether a path can lead from one of the places into one of the directories. Most words of a command cannot, because they go down under
 * another name, and need not be resolved.
 */
function wayThere(places: readonly string[], directories: readonly string[]): (path: string) => boolean {
  if (places.some((place) => firstStar(place) >= 0 || directories.some((top) => isInside(place, top))))
    return () => true
  const names = places.flatMap((place) =>
    directories
      .filter((top) => isInside(top, place))
      .map((top) => firstName(top.slice(place.endsWith(sep) ? place.length : place.length + 1))),
  )
  return (path) =>
    /^[/~$.]|\.\.|[*?[{]/.test(path) || (names.length > 0 && names.includes(fold(firstName(path))))
}

function firstName(path: string): string {
  const end = path.search(/[/\\]/)
  return end < 0 ? path : path.slice(0, end)
}

function firstStar(path: string): number {
  return path.search(/[*?[{]/)
}

function globMeets(path: string, directories: readonly string[]): boolean {
  const stars = firstStar(path)
  if (stars < 0) return false
  const prefix = fold(path.slice(0, stars))
  // A pattern in the home directory or above is too broad to mean the guard. A deeper one may mean it.
  return directories.some((directory) => directory.startsWith(prefix) && prefix.split('/').length > 4)
}
