import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { contentHash } from './content-hash.ts'
import { faultOf, OwnCodeFault, runOwnCode } from './own-code.ts'
import { isFile } from './path-kind.ts'

export type ImportedModule<T> =
  | {
      readonly kind: 'loaded'
      readonly value: T
      /** Changes with the text of the module and of every local file it names. */
      readonly fingerprint: string
    }
  | {
      readonly kind: 'missing' | 'broken'
      readonly message: string
      readonly hint: string
      readonly cause?: unknown
    }

export interface WantedExport<T> {
  /** As the user wrote it, relative to `base`. */
  readonly path: string
  readonly base: string
  /** Of the file or command line that names the module: what relative paths start at. */
  readonly relativeTo: string
  /** For example `a gate`. */
  readonly what: string
  /** How a right module looks. */
  readonly hint: string
  /** The default export as what it should be, or a text that says what is wrong with it. */
  read(exported: unknown): T | string
}

/**
 * Runs a JavaScript or TypeScript module of the user, with the rights of this process, and reads its default export. Call it only for
 * a path that the user wrote in gantry.yaml or on the command line. A module that changed since it was loaded is loaded again. Its
 * `import … from 'gantry'` gets the running Gantry, wherever the module is.
 */
export async function importModule<T>(wanted: WantedExport<T>): Promise<ImportedModule<T>> {
  const { path, base, relativeTo, what, hint } = wanted
  const file = resolve(base, path)
  if (!isFile(file))
    return {
      kind: 'missing',
      message: `the module ${path} does not exist`,
      hint: `Relative paths start at ${relativeTo}; this one leads to ${file}.`,
    }
  const fingerprint = contentHash(localFiles(file).map((name) => readFileSync(name, 'utf8')))
  const url = pathToFileURL(file)
  url.searchParams.set('gantry', fingerprint.slice(0, 12))
  resolveOwnName()
  let exported: unknown
  try {
    exported = await runOwnCode(`the module ${path}`, () => import(url.href), { limitMs: loadLimitMs })
  } catch (cause) {
    const why = cause instanceof OwnCodeFault ? `it ${cause.message}` : faultOf(cause).replace(/^threw /, '')
    return {
      kind: 'broken',
      message: `the module ${path} failed to load: ${why}`,
      hint: hintFor(cause, file),
      cause,
    }
  }
  const value = wanted.read(defaultOf(exported))
  if (typeof value !== 'string') return { kind: 'loaded', value, fingerprint }
  return { kind: 'broken', message: `the default export of ${path} is not ${what}: ${value}`, hint }
}

/** A module that waits for something at its top level may take this long. */
const loadLimitMs = 60_000

let resolvesOwnName = false

/** Makes `gantry` in every import of this process lead to the running Gantry. It stays, because a module may import it when it is used. */
function resolveOwnName(): void {
  if (resolvesOwnName) return
  resolvesOwnName = true
  const entry = entries.map((place) => join(import.meta.dirname, place)).find(isFile)
  if (entry === undefined) return
  const { href: url } = pathToFileURL(entry)
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'gantry' ? { url, shortCircuit: true } : next(specifier, context),
  })
}

/** The library, seen from this file: among the sources, and from a bundle or one of its chunks. */
const entries = ['../index.ts', 'index.js', '../index.js']

function hintFor(cause: unknown, file: string): string {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(cause instanceof Error ? cause.message : '') ?? []
  if (missing === undefined) return `Run 'node ${file}' to see the whole error.`
  return `Install it for the module: npm install ${missing} (in ${dirname(file)} or above).`
}

function defaultOf(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'default' in exported
    ? exported.default
    : undefined
}

/**
 * What is wrong with a definition that the user wrote, maybe without types. null when it is an object that has every required key
 * and whose keys all have values of the right type.
 */
export function definitionProblem(
  value: unknown,
  keys: Readonly<Record<string, (value: unknown) => boolean>>,
  required: readonly string[],
): string | null {
  if (value === undefined) return 'there is none'
  if (typeof value !== 'object' || value === null) return `it is a ${typeof value}`
  const missing = required.find((key) => Reflect.get(value, key) === undefined)
  if (missing !== undefined) return `it has no '${missing}'`
  for (const [key, given] of Object.entries(value)) {
    const fits = keys[key]
    if (fits === undefined) return `unknown key '${key}' (known: ${Object.keys(keys).join(', ')})`
    if (given !== undefined && !fits(given)) return `its '${key}' has the wrong type`
  }
  return null
}

/**
 * The module and every local file whose relative path is written in it, in its imports or elsewhere, and so on. A path that is put
 * together at run time, and packages, are not seen.
 */
function localFiles(start: string): string[] {
  const found = new Set([start])
  for (const file of found) {
    if (!/\.[cm]?[jt]s$/.test(file)) continue
    for (const [, , path = ''] of readFileSync(file, 'utf8').matchAll(/(['"`])(\.{1,2}\/[^'"`\n]+)\1/g)) {
      const named = resolve(dirname(file), path)
      if (isFile(named)) found.add(named)
    }
  }
  return [...found]
}
