import { posix } from 'node:path'
import { absolutePath } from './absolute-path.ts'
import { charsOf, globRegExp } from './glob-reg-exp.ts'
import { type Options, readOptions } from './options.ts'
import { afterGlobalOptions } from './programs/git.ts'
import { trackedFiles } from './programs/tracked-files.ts'
import type { ProgramCall } from './shell-state.ts'
import { isKnown, searchIndex, searchResult } from './unknown-part.ts'

type Wanted = (path: string) => boolean

/** `grep -rl PATTERN DIRECTORY` and `grep -l PATTERN FILE…`; null when it lists no files. */
export function grepList({ args, state, shell, name }: ProgramCall): string | null {
  const options = readOptions(args, grepValued)
  const { has } = options
  if (!has('l files-with-matches L files-without-match')) return null
  const { tests, places } = patternsOf(options)
  const isLike = contentMatcher(tests, options, shell.world.readText, name === 'fgrep')
  const inside = has('l files-with-matches') ? isLike : (path: string) => !isLike(path)
  const paths = places.map((value) => absolutePath(value, state.cwd))
  if (!has('r R recursive dereference-recursive'))
    return places
      .filter((_, index) => inside(paths[index] ?? ''))
      .map(line)
      .join('')
  const chosen = chosenNames(options.values('include'), options.values('exclude'))
  const roots = paths.length === 0 ? [absolutePath('.', state.cwd)] : paths
  return line(searchResult(shell.search(roots, (path) => chosen(path) && inside(path))))
}

/** `rg -l` and `rg --files`, `ag -l`, `ack -l`: hidden files only on request. */
export function searchList({ args, state, shell }: ProgramCall): string | null {
  const options = readOptions(args, searchValued)
  const { has } = options
  const lists = has('files')
  if (!lists && !has('l files-with-matches')) return null
  const { tests, places } = lists
    ? { tests: [], places: options.operands.map(({ value }) => value) }
    : patternsOf(options)
  const unrestricted = args.filter(({ value }) => /^-u+$|^--unrestricted$/.test(value))
  const hidden = has('hidden . a all') || unrestricted.map(({ value }) => value).join('').length > 2
  const roots = (places.length === 0 ? ['.'] : places).map((value) => absolutePath(value, state.cwd))
  const globs = options.values('g glob iglob')
  const chosen = chosenNames(
    globs.filter(({ value }) => !value.startsWith('!')),
    globs.filter(({ value }) => value.startsWith('!')).map((each) => ({ value: each.value.slice(1) })),
  )
  const inside = lists ? () => true : contentMatcher(tests, options, shell.world.readText, has('F'), true)
  return line(
    searchResult(
      shell.search(roots, (path) => (hidden || !isHidden(path, roots)) && chosen(path) && inside(path)),
    ),
  )
}

/** `git ls-files`, `git grep -l`, `git diff --name-only`. */
export function gitList(invocation: ProgramCall): string | null {
  const { shell } = invocation
  const { words, state } = afterGlobalOptions(invocation)
  const [verb, ...args] = words
  const tracked = trackedFiles(shell.world, state.cwd)
  if (verb === undefined || tracked === null || state.cwd === null) return null
  const { cwd } = state
  const options = readOptions(args, `${grepValued} x exclude X exclude-from`)
  const { has } = options
  switch (verb.value) {
    case 'ls-files': {
      const others = has('o others')
      return found(options.operands, (path) => tracked.has(path) !== others)
    }
    case 'grep': {
      if (!has('l files-with-matches name-only')) return null
      const { tests, places } = patternsOf(options)
      const isLike = contentMatcher(tests, options, shell.world.readText, false)
      return found(
        places.map((value) => ({ value })),
        (path) => tracked.has(path) && isLike(path),
      )
    }
    case 'diff':
      return has('name-only') ? found([], (path) => tracked.isChanged(path)) : null
    default:
      return null
  }

  function found(specs: readonly { readonly value: string }[], wanted: Wanted): string {
    const tests = specs.map(({ value }) => pathTest(value, cwd))
    const root = verb?.value === 'diff' ? (tracked?.top ?? cwd) : cwd
    return line(
      searchResult(
        shell.search(
          [root],
          (path) => wanted(path) && (tests.length === 0 || tests.some((test) => test(path))),
        ),
      ),
    )
  }
}

/** `grep` over the results of a search: the search with one more condition. Other lines are ignored. */
export function narrowed({ args, state, shell, name }: ProgramCall): string | null {
  const index = searchIndex(state.stdin ?? '')
  if (index === null || state.cwd === null) return null
  const options = readOptions(args, grepValued)
  const { tests, places } = patternsOf(options)
  if (places.length > 0) return null
  const { cwd } = state
  const expressions = tests.map((each) => regExpOf(each, options, name))
  const keep = (path: string): boolean => {
    const relative = posix.relative(cwd, path)
    const shown = [relative, `./${relative}`, path]
    return expressions.some((each) => shown.some((text) => each.test(text))) !== options.has('v')
  }
  return line(searchResult(shell.narrow(index, keep)))
}

export const grepValued = 'e regexp f file m A B C include exclude exclude-dir d'
const searchValued = 'e regexp f g glob iglob t type T m A B C j G'

function line(text: string): string {
  return `${text}\n`
}

export function patternsOf(options: Options) {
  const words = options.operands.map(({ value }) => value)
  const own = options.values('e regexp').map(({ value }) => value)
  return own.length > 0 || options.has('f')
    ? { tests: own, places: words }
    : { tests: words.slice(0, 1), places: words.slice(1) }
}

/** A file that cannot be read, or a pattern that JavaScript cannot read, counts as a match. */
function contentMatcher(
  tests: readonly string[],
  options: Options,
  read: (path: string, maxBytes: number) => string | null,
  isFixed: boolean,
  isExtended = false,
): Wanted {
  const expressions = tests.map((each) => regExpOf(each, options, isFixed ? 'fgrep' : '', isExtended))
  return (path) => {
    const text = isKnown(path) ? read(path, maxText) : null
    return text === null || expressions.length === 0 || expressions.some((each) => each.test(text))
  }
}

const maxText = 262_144

/** A pattern that JavaScript cannot read matches all. */
export function regExpOf(pattern: string, { has }: Options, name: string, isExtended = false): RegExp {
  const extended = isExtended || name === 'egrep' || has('E P extended-regexp perl-regexp')
  const source =
    name === 'fgrep' || has('F fixed-strings')
      ? pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      : extended
        ? pattern
        : pattern.replaceAll(/\\?([(){}|+?])/g, (both, sign: string) => (both === sign ? `\\${sign}` : sign))
  try {
    return new RegExp(source.slice(0, 300), has('i ignore-case S') ? 'im' : 'm')
  } catch {
    return /^/
  }
}

function chosenNames(
  included: readonly { readonly value: string }[],
  excluded: readonly { readonly value: string }[],
): Wanted {
  const test = ({ value }: { readonly value: string }): Wanted => {
    const expression = globRegExp(charsOf(value.replace(/^.*\//, ''), false))
    return (path) => expression?.test(posix.basename(path)) ?? true
  }
  const [inside, outside] = [included.map(test), excluded.map(test)]
  return (path) =>
    (inside.length === 0 || inside.some((each) => each(path))) && !outside.some((each) => each(path))
}

function pathTest(spec: string, cwd: string): Wanted {
  const expression = globRegExp(charsOf(spec.replace(/^:\([\w,]*\)|^:\//, ''), false), { across: true })
  const whole = absolutePath(spec, cwd)
  return (path) =>
    path === whole || path.startsWith(`${whole}/`) || expression?.test(posix.relative(cwd, path)) !== false
}

function isHidden(path: string, roots: readonly string[]): boolean {
  const root = roots.find((each) => path.startsWith(`${each}/`)) ?? ''
  return /\/\./.test(path.slice(root.length))
}
