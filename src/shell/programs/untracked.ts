import { charsOf, globRegExp } from '../glob-pattern.ts'
import type { World } from '../world.ts'
import { repositoryOf } from './tracked.ts'

/**
 * Which files `git clean` would take, as far as the repository's own files tell: not those in the index, not those it is told to
 * keep and, without `-x`, not those that are ignored.
 */
export function untracked(
  world: World,
  cwd: string | null,
  { ignored, kept }: { readonly ignored: boolean; readonly kept: readonly string[] },
): (path: string) => boolean {
  const root = cwd === null ? null : repositoryOf(cwd, world)
  const index = root === null ? null : world.readText(`${root}/.git/index`, maxIndex)
  const rules =
    ignored || root === null ? [] : (world.readText(`${root}/.gitignore`, 65_536) ?? '').split('\n')
  const spared = [...kept, ...rules].map(matcher).filter((each) => each !== null)
  return (path) => {
    const relative = root !== null && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    if (index?.includes(`${relative}\0`) === true) return false
    return !spared.some((matches) => matches(relative))
  }
}

const maxIndex = 8_388_608

/** The common forms of an ignore pattern; a negated one is not followed, it spares nothing. */
function matcher(line: string): ((relative: string) => boolean) | null {
  const pattern = line.trim().replace(/^\//, '').replace(/\/$/, '')
  if (pattern === '' || /^[#!]/.test(line.trim())) return null
  const anchored = /\//.test(line.trim().replace(/\/$/, ''))
  const matches = globRegExp(charsOf(pattern.replace(/^\*\*\//, ''), false), {
    across: pattern.includes('**'),
  })
  if (matches === null) return null
  return (relative) => {
    const parts = relative.split('/')
    return parts.some((_, index) =>
      anchored && !pattern.startsWith('**/')
        ? matches.test(parts.slice(0, index + 1).join('/'))
        : matches.test(parts[index] ?? ''),
    )
  }
}
