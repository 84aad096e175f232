import { posix } from 'node:path'
import { absolutePath, textAt } from '../absolute-path.ts'
import { charsOf, globRegExp } from '../glob-reg-exp.ts'
import { type Options, readOptions } from '../options.ts'
import { type Arg, argOf, type ProgramCall, type ShellState } from '../shell-state.ts'
import { withFile } from '../state.ts'
import { isKnown } from '../unknown-part.ts'
import type { World } from '../world.ts'
import { gitDirectory, maxIndex, repositoryOf, trackedFiles } from './tracked-files.ts'

/** `checkout`, `restore`, `switch`, `reset`, `read-tree`, `checkout-index`: files become what git has of them. */
export function changeGitTree(invocation: ProgramCall): undefined {
  const { name, args } = invocation
  const options = readOptions(args, valued)
  const { has } = options
  switch (name) {
    case 'git restore':
      if (has('staged S') && !has('worktree W')) return
      return restorePaths(invocation, chosen(invocation, options))
    case 'git checkout':
      if (has('f force')) restorePaths(invocation, whole)
      return restorePaths(invocation, chosen(invocation, options))
    case 'git switch':
      return has('f force discard-changes') ? restorePaths(invocation, whole) : undefined
    case 'git reset':
      return has('hard') ? restorePaths(invocation, whole) : undefined
    case 'git read-tree':
      return has('u') && has('reset m') ? restorePaths(invocation, whole) : undefined
    default:
      if (options.values('prefix').length > 0) return
      return restorePaths(invocation, has('a all') && has('f force') ? whole : options.operands)
  }
}

const valued = 's source b B c C orphan pathspec-from-file prefix stage'

const whole: readonly Arg[] = [argOf(':/')]

/** The paths given to a command, in its arguments or in a file; unknown when the file cannot be read. */
export function chosen({ state, shell, name }: ProgramCall, options: Options): readonly Arg[] {
  const listed = options.values('pathspec-from-file').flatMap(({ value }) => {
    const text = textAt(value, state)
    if (text === null) {
      shell.opaque('', `which files ${name} takes is in a list that cannot be read`)
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
export function restorePaths(
  invocation: ProgramCall,
  specs: readonly Arg[],
  how = `${invocation.name} replaces it`,
): undefined {
  const { state, shell } = invocation
  const tracked = trackedFiles(shell.world, state.cwd)
  for (const spec of specs) {
    const { text, isExcluded, isTop } = pathspec(spec.value)
    if (isExcluded) restorePaths(invocation, whole, how)
    if (isExcluded || !isKnown(text)) {
      if (!isExcluded) shell.write(spec, how, state)
      continue
    }
    const base = isTop ? (tracked?.top ?? state.cwd) : state.cwd
    if (/[*?[]/.test(text)) {
      const look = base ?? '/'
      const only = (path: string): boolean => matchesSpec(text, look, path) && tracked?.has(path) !== false
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
}

/** Whether a pattern of git means a path, seen from this directory. */
export function matchesSpec(pattern: string, base: string, path: string): boolean {
  const matches = globRegExp(charsOf(pattern.replaceAll('**/', '*'), false), { across: true })
  return matches?.test(posix.relative(base, path)) ?? true
}

/** `:/src`, `:!src`, `:(top,icase)src`. */
function pathspec(value: string) {
  const [, words, signs, rest = value] = /^:(?:\(([\w,:]*)\)|([/!^]+):?)(.*)$/s.exec(value) ?? []
  return {
    text: rest,
    isExcluded: words?.includes('exclude') === true || /[!^]/.test(signs ?? ''),
    isTop: words?.includes('top') === true || signs?.includes('/') === true,
  }
}

/**
 * `git rm --cached` and `git read-tree --empty` leave the files where they are, but take them out of the index: to what follows in
 * the same command they are untracked. `after` is the state this goes into.
 */
export function withoutEntries(invocation: ProgramCall, after: ShellState): ShellState | undefined {
  const { args, state, name } = invocation
  const { has, operands } = readOptions(args, 'pathspec-from-file')
  const empties = name === 'git read-tree' && has('empty')
  if (!(empties || (name === 'git rm' && has('cached'))) || has('n dry-run')) return
  const cwd = state.cwd === null ? null : posix.normalize(state.cwd)
  const top = cwd === null ? null : repositoryOf(cwd, invocation.shell.world)
  if (top === null) return
  const path = `${gitDirectory(top, invocation.shell.world).own}/index`
  const index = worldWithMade(invocation).readText(path, maxIndex)
  if (index === null) return
  const names = operands.map(({ value }) => absolutePath(value, cwd).slice(top.length + 1))
  const left =
    empties || names.some((each) => each === '' || /[*?[:]/.test(each)) ? '' : without(index, names)
  return withFile(after, path, left)
}

/** The disk with the files that the command itself has written. */
export function worldWithMade({ shell: { world }, state }: ProgramCall): World {
  const readText: World['readText'] = (path, maxBytes) =>
    state.made.files.get(path) ?? world.readText(path, maxBytes)
  return { ...world, readText }
}

/** Names of files end with a NUL in an index, those of directories with a slash. */
function without(index: string, names: readonly string[]): string {
  return names.reduce(
    (left, name) => left.replaceAll(`${name}\0`, '\u0001').replaceAll(`${name}/`, '\u0001'),
    index,
  )
}
