import { posix } from 'node:path'
import { absolutePath } from '../absolute-path.ts'
import type { Invocation, ShellState } from '../interpreter.ts'
import { readOptions } from '../options.ts'
import { withFile } from '../state.ts'
import type { World } from '../world.ts'
import { repositoryOf } from './tracked.ts'

/**
 * `git rm --cached` and `git read-tree --empty` leave the files where they are, but take them out of the index: to what follows in
 * the same command they are untracked. `after` is the state this goes into.
 */
export function withoutEntries(invocation: Invocation, after: ShellState): ShellState | null {
  const { args, state, name } = invocation
  const { given, operands } = readOptions(args, ['pathspec-from-file'])
  const empties = name === 'git read-tree' && given.has('empty')
  if (!(empties || (name === 'git rm' && given.has('cached'))) || given.has('n') || given.has('dry-run'))
    return null
  const cwd = state.cwd === null ? null : posix.normalize(state.cwd)
  const top = cwd === null ? null : repositoryOf(cwd, invocation.shell.world)
  if (top === null) return null
  const path = `${top}/.git/index`
  const index = worldWithMade(invocation).readText(path, maxIndex)
  if (index === null) return null
  const names = operands.map(({ value }) => absolutePath(value, cwd).slice(top.length + 1))
  const left =
    empties || names.some((each) => each === '' || /[*?[:]/.test(each)) ? '' : without(index, names)
  return withFile(after, path, left)
}

const maxIndex = 8_388_608

/** The disk as it is after what the command itself has written. */
export function worldWithMade({ shell: { world }, state }: Invocation): World {
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
