import { dirname, join } from 'node:path'
import { asArray, asObject } from '../core/json-fields.ts'
import { fileIdentity } from '../io/content-hash.ts'
import { readJsonIfExists } from '../io/files.ts'

/** The bundle that `bin/hook-bin.js` of a checkout runs; null when it is missing or damaged, or a source changed since. */
export function currentBundle(hookBin: string): string | null {
  const root = dirname(dirname(hookBin))
  const cache = join(root, 'node_modules/.cache/gantry')
  const made = asObject(readJsonIfExists(join(cache, 'hook-bundle.json')))
  if (made === null || typeof made.bundle !== 'string') return null
  const isCurrent = asArray(made.sources).every((source) => {
    const [path, identity] = asArray(source)
    return fileIdentity(join(root, String(path))) === identity
  })
  const bundle = join(cache, made.bundle)
  return isCurrent && fileIdentity(bundle)?.startsWith(`${made.size}-`) ? bundle : null
}
