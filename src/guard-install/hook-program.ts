import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { asArray, asObject } from '../core/json-fields.ts'
import { fileIdentity } from '../io/content-hash.ts'
import { readTextIfExists } from '../io/directory.ts'
import { readJsonIfExists } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'

/** What every hook starts, whatever starts it. */
export interface HookProgram {
  /** Absolute: the Node that runs now, so that no PATH of the agent decides which one it is. */
  readonly node: string
  readonly hookBin: string
}

/**
 * The program every hook starts: `hook/hook-bin.js` of the published package, or `bin/hook-bin.js` of a checkout, which runs a
 * bundle of the sources while it is current and the sources otherwise.
 */
export function hookBinPath(from: string = import.meta.dirname): string {
  for (let directory = from; ; directory = dirname(directory)) {
    const found = ['hook/hook-bin.js', inCheckout].map((name) => join(directory, name)).find(isFile)
    if (found !== undefined) return found
    if (dirname(directory) === directory) break
  }
  throw new GantryError('NOT_FOUND', 'the program that the hooks start was not found', {
    hint: 'Install Gantry again, or build it: npm run build.',
  })
}

const inCheckout = 'bin/hook-bin.js'

/** The hook program as the text of one file; null in a checkout whose bundle is missing or older than its sources. */
export function bundledHook(hookBin: string): string | null {
  const root = dirname(dirname(hookBin))
  if (hookBin !== join(root, inCheckout)) return hookBin.endsWith('.js') ? readTextIfExists(hookBin) : null
  const cache = join(root, 'node_modules/.cache/gantry')
  const made = asObject(readJsonIfExists(join(cache, 'hook-bundle.json')))
  if (made === null || typeof made.bundle !== 'string') return null
  const isCurrent = asArray(made.sources).every((source) => {
    const [path, identity] = asArray(source)
    return fileIdentity(join(root, String(path))) === identity
  })
  return isCurrent ? readTextIfExists(join(cache, made.bundle)) : null
}
