import { posix } from 'node:path'
import { absolutePath } from '../absolute-path.ts'
import { charsOf, globRegExp } from '../glob-pattern.ts'
import { type Arg, argOf, type Invocation } from '../interpreter.ts'
import { type Options, readOptions } from '../options.ts'
import { isKnown } from '../unknown.ts'
import { trackedIn } from './tracked.ts'

/** `checkout`, `restore`, `switch`, `reset`, `read-tree`, `checkout-index`: files become what git has of them. */
export function changeTree(invocation: Invocation): null {
  const { name, args } = invocation
  const options = readOptions(args, valued)
  const has = (...names: readonly string[]): boolean => names.some((each) => options.given.has(each))
  switch (name) {
    case 'git restore':
      if (has('staged', 'S') && !has('worktree', 'W')) return null
      return bringBack(invocation, chosen(invocation, options))
    case 'git checkout':
      if (has('f', 'force')) bringBack(invocation, whole)
      return bringBack(invocation, chosen(invocation, options))
    case 'git switch':
      return has('f', 'force', 'discard-changes') ? bringBack(invocation, whole) : null
    case 'git reset':
      return has('hard') ? bringBack(invocation, whole) : null
    case 'git read-tree':
      return has('u') && has('reset', 'm') ? bringBack(invocation, whole) : null
    default:
      if (options.values('prefix').length > 0) return null
      return bringBack(invocation, has('a', 'all') && has('f', 'force') ? whole : options.operands)
  }
}

const valued = ['s', 'source', 'b', 'B', 'c', 'C', 'orphan', 'pathspec-from-file', 'prefix', 'stage']

const whole: readonly Arg[] = [argOf(':/')]

/** The paths a command is told, on its line or in a file; of a file that cannot be seen nothing is known. */
export function chosen({ state, shell, name }: Invocation, options: Options): readonly Arg[] {
  const listed = options.values('pathspec-from-file').flatMap(({ value }) => {
    const text = value === '-' ? state.stdin : state.made.files.get(absolutePath(value, state.cwd))
    if (text === null || text === undefined) {
      shell.opaque('', `which files ${name} takes stands in a list that cannot be seen`)
      return []
    }
    return text
      .split(/[\n\0]/)
      .filter((line) => line !== '')
      .map(argOf)
  })
  return [...options.operands, ...listed]
}

/**
 * Files that are named, alone or by a pattern, count in any case. Of a whole directory only those count that differ from what git
 * has: the others stay as they are, or become what another commit holds, which cannot be seen.
 */
export function bringBack(
  invocation: Invocation,
  specs: readonly Arg[],
  how = `${invocation.name} replaces it`,
): null {
  const { state, shell } = invocation
  const tracked = trackedIn(shell.world, state.cwd)
  for (const spec of specs) {
    const { text, isExcluded, isTop } = pathspec(spec.value)
    if (isExcluded) bringBack(invocation, whole, how)
    if (isExcluded || !isKnown(text)) {
      if (!isExcluded) shell.write(spec, how, state)
      continue
    }
    const base = isTop ? (tracked?.top ?? state.cwd) : state.cwd
    if (/[*?[]/.test(text)) {
      const matches = globRegExp(charsOf(text.replaceAll('**/', '*'), false), { across: true })
      const look = base ?? '/'
      const only = (path: string): boolean =>
        (matches?.test(posix.relative(look, path)) ?? true) && tracked?.has(path) !== false
      shell.write({ value: look, text: spec.text }, how, state, { entry: true, look, only })
      continue
    }
    const path = absolutePath(text === '' ? '.' : text, base)
    shell.write({ value: path, text: spec.text }, how, state)
    if (tracked !== null && isKnown(path))
      shell.write({ value: path, text: spec.text }, how, state, {
        entry: true,
        look: path,
        only: (each) => tracked.isChanged(each),
      })
  }
  return null
}

/** `:/src`, `:!src`, `:(top,icase)src`. */
function pathspec(value: string): {
  readonly text: string
  readonly isExcluded: boolean
  readonly isTop: boolean
} {
  const [, words, signs, rest = value] = /^:(?:\(([\w,:]*)\)|([/!^]+):?)(.*)$/s.exec(value) ?? []
  return {
    text: rest,
    isExcluded: words?.includes('exclude') === true || /[!^]/.test(signs ?? ''),
    isTop: words?.includes('top') === true || signs?.includes('/') === true,
  }
}
