import { absolutePath, leadsTo } from './absolute-path.ts'
import { type Char, globRegExp, hasGlob, plainText } from './glob-reg-exp.ts'
import type { Shell, ShellState } from './shell-state.ts'
import { unknownPart } from './unknown-part.ts'

/** The paths that match a word with a glob, on the disk and among the files the command made; the word itself when none match. */
export function expandGlob(chars: readonly Char[], state: ShellState, shell: Shell): readonly string[] {
  const segments = segmentsOf(chars)
  if (state.cwd === null && segments[0]?.length !== 0) return [holes(segments)]
  let found: readonly string[] = ['']
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1
    found = found.flatMap((prefix) =>
      extend(prefix, segment, state, shell).map((path) => (last ? path : `${path}/`)),
    )
    if (found.length > maxPaths) return [...found.slice(0, maxPaths), holes(segments)]
  }
  return found.length === 0 ? [plainText(chars)] : found
}

const maxPaths = 500

function extend(prefix: string, segment: readonly Char[], state: ShellState, shell: Shell): string[] {
  const text = plainText(segment)
  if (!hasGlob(segment) && !text.includes(unknownPart)) return [`${prefix}${text}`]
  if (text === '**' && state.options.has('globstar')) return deeper(prefix, state, shell)
  const matches = globRegExp(segment, { ignoreCase: state.options.has('nocaseglob') })
  if (matches === null) return [`${prefix}${unknownPart}`]
  const hidden = state.options.has('dotglob') || text.startsWith('.') || /^(?:\[|[@?*+!]\()/.test(text)
  const names = namesIn(absolutePath(prefix === '' ? '.' : prefix, state.cwd), state, shell)
  return names
    .filter((name) => (hidden || !name.startsWith('.')) && matches.test(name))
    .map((name) => `${prefix}${name}`)
}

/** `**`: the directory and those below it, as deep as projects commonly are. */
function deeper(prefix: string, state: ShellState, shell: Shell): string[] {
  const found = [prefix]
  for (let index = 0; index < found.length && found.length < maxPaths; index += 1) {
    const at = found[index] ?? ''
    if (at.split('/').length > 8) continue
    const directory = absolutePath(at === '' ? '.' : at, state.cwd)
    for (const name of shell.world.list(directory) ?? [])
      if (!name.startsWith('.') && shell.world.list(`${directory}/${name}`) !== null)
        found.push(`${at}${name}/`)
  }
  return found.map((path) => (path === '' ? '.' : path.replace(/\/$/, '')))
}

function namesIn(directory: string, state: ShellState, shell: Shell): readonly string[] {
  const listed = shell.world.list(leadsTo(directory, state).at(-1) ?? directory) ?? []
  const { links, files } = state.made
  if (links.size === 0 && files.size === 0) return listed
  const prefix = directory === '/' ? '/' : `${directory}/`
  const own = [...links.keys(), ...files.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
  return [...listed, ...own.filter((name) => !name.includes('/') && !listed.includes(name))]
}

function segmentsOf(chars: readonly Char[]): Char[][] {
  const segments: Char[][] = [[]]
  for (const each of chars)
    if (each.char === '/') segments.push([])
    else segments.at(-1)?.push(each)
  return segments
}

function holes(segments: readonly Char[][]): string {
  return segments.map((segment) => (hasGlob(segment) ? unknownPart : plainText(segment))).join('/')
}
