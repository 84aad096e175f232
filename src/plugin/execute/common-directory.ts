import { dirname, sep } from 'node:path'

/** The nearest directory that all of them are or lie in; the first of them when that would be a whole disk. null when there are none. */
export function commonDirectory(directories: readonly string[]): string | null {
  const [first, ...rest] = directories
  if (first === undefined) return null
  const common = rest.reduce(nearest, first)
  return common.split(sep).filter((step) => step !== '').length < 2 ? first : common
}

function nearest(one: string, other: string): string {
  for (let directory = one; ; directory = dirname(directory))
    if (other === directory || other.startsWith(directory + sep) || directory === dirname(directory))
      return directory
}
