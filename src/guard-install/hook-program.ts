import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { lastChange, newestChange } from '../io/newest-change.ts'
import { isFile } from '../io/path-kind.ts'

/**
 * The program every hook starts. In the published package it is `hook/hook-bin.js` beside the program's own bundle; in a checkout
 * it is the source, which Node runs as it is, or a bundle of exactly that source, which starts faster.
 */
export function hookBinPath(from: string = import.meta.dirname): string {
  for (let directory = from; ; directory = dirname(directory)) {
    const found = programIn(directory)
    if (found !== null) return found
    if (dirname(directory) === directory) break
  }
  throw new GantryError('NOT_FOUND', 'the program that the hooks start is not there', {
    hint: 'Install Gantry again, or build it: npm run build.',
  })
}

function programIn(directory: string): string | null {
  const published = join(directory, 'hook/hook-bin.js')
  if (isFile(published)) return published
  const source = join(directory, 'src/hook-bin.ts')
  if (!isFile(source)) return null
  const bundle = join(directory, 'node_modules/.cache/gantry/hook-bin.js')
  // One that is older than any rule would not know it.
  const isCurrent = isFile(bundle) && lastChange(bundle) > newestChange(join(directory, 'src'))
  return isCurrent ? bundle : source
}

/** What every hook comes down to, whatever starts it. */
export interface HookProgram {
  /** Absolute: the Node that runs now, so that no PATH of the agent decides which one it is. */
  readonly node: string
  readonly hookBin: string
}
