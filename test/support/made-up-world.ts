import { basename, dirname, join, normalize } from 'node:path'
import type { ResolvedPath, World } from '../../src/shell/world.ts'

export interface MadeUpFiles {
  /** Text by absolute path; directories are made of what lies in them. */
  readonly files: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  /** Second names of a file: name by the file it is. */
  readonly hardLinks?: Readonly<Record<string, string>>
}

/** A simulated disk. */
export function madeUpWorld(
  { files, links = {}, hardLinks = {} }: MadeUpFiles,
  rest: Pick<World, 'home' | 'own'> & Partial<World>,
): World {
  const all: Readonly<Record<string, string>> = {
    ...files,
    ...Object.fromEntries(Object.entries(hardLinks).map(([name, of]) => [name, files[of] ?? ''])),
  }
  const names = [...Object.keys(all), ...Object.keys(links)]
  const isDirectory = (path: string): boolean =>
    names.some((name) => name.startsWith(path === '/' ? '/' : `${path}/`))
  const real = (path: string, depth = 0): string => {
    if (path === '/' || depth > 40) return path
    const here = join(real(dirname(path), depth + 1), basename(path))
    const to = links[here]
    return to === undefined
      ? here
      : real(normalize(to.startsWith('/') ? to : join(dirname(here), to)), depth + 1)
  }
  return {
    platform: 'linux',
    env: { HOME: rest.home },
    ...rest,
    resolve: (path): ResolvedPath => {
      const found = real(normalize(path).replace(/(.)\/$/, '$1'))
      if (all[found] !== undefined) {
        const file = hardLinks[found] ?? found
        const count = 1 + Object.values(hardLinks).filter((of) => of === file).length
        return { real: found, kind: 'file', id: `1:${file}`, links: count }
      }
      return isDirectory(found)
        ? { real: found, kind: 'directory', id: `1:${found}`, links: 2 }
        : { real: found, kind: 'missing', id: null, links: 0 }
    },
    list: (directory) => {
      const found = real(directory)
      if (!isDirectory(found)) return null
      const prefix = found === '/' ? '/' : `${found}/`
      return [
        ...new Set(
          names
            .filter((name) => name.startsWith(prefix))
            .map((name) => name.slice(prefix.length).split('/')[0] ?? ''),
        ),
      ].sort()
    },
    readText: (path, maxBytes) => {
      const text = all[real(path)]
      return text === undefined || text.length > maxBytes ? null : text
    },
  }
}
