import { dirname, join, resolve } from 'node:path'
import { isFile } from '../io/path-kind.ts'

/** The gantry.yaml of a directory: the nearest one upward; null when there is none. */
export function findConfig(start: string): string | null {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    const found = ['gantry.yaml', 'gantry.yml'].map((name) => join(directory, name)).find(isFile)
    if (found !== undefined) return found
    if (directory === dirname(directory)) return null
  }
}
