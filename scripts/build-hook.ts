// Makes hook-bin.js: the program of the hooks in one file, which neither compiles nor loads what the event at hand does not need.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')
const entry = join(root, 'src/hook-main.ts')

/** Modules of Node that take a noticeable part of a hook's time to load: loaded when one of their functions is first used. */
const slowToLoad = new Set([
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'node:net',
  'node:os',
  'node:stream',
  'node:timers/promises',
])

/**
 * Parts that not every event needs, by the paths of their modules. Each becomes a section, compiled when one of its functions is
 * first used; what is in none of them is needed always. No module may do anything but declare when it is loaded.
 */
const parts: readonly (readonly [string, RegExp])[] = [
  ['shell', /^node_modules\/unbash\/|^src\/rules\/(?:shell\/|targets\.ts)/],
  ['yaml', /^node_modules\/yaml\/|^src\/io\/yaml-source\.ts$/],
  ['installers', /^src\/agents\/(?:hook-config\/|hook-installers|.*\/(?:hook-config|guard-plugin)\.ts)/],
  ['installers', /^src\/guard\/hook\/has-own-hook\.ts$/],
  ['agent-$1', /^src\/agents\/(claude-code|codex|gemini|copilot|cursor|opencode)\//],
  [
    'before-a-tool',
    /^node_modules\/picomatch\/|^src\/rules\/(?:protected-path|seal\/.*)\.ts$|^src\/core\/jsonc\//,
  ],
  ['evidence', /^src\/rules\/(?:evidence|verify)\//],
  ['project', /^src\/rules\/(?:project\/(?!declaring-files)|tests\/(?!test-files)|context\/|gate\/)/],
  ['settings-files', /^src\/rules\/settings\/(?:check-values|json-source)\.ts$|^src\/core\/nearest\.ts$/],
  ['processes', /^src\/io\/(?:exec|process-|start-child|start-failure|spawn-|git-|tree-|blob-id|follow-)/],
  [
    'processes',
    /^src\/io\/(?:capped-|pipe|input-file|ids|info-exclude)|^src\/rules\/facts\/tree-fingerprint\.ts$/,
  ],
  ['after-a-tool', /^src\/rules\/(?:trace\/append-trace|facts\/edited-files)\.ts$/],
  ['after-a-tool', /^src\/io\/(?:rotating-log|lock|content-hash)\.ts$/],
  [
    'resident',
    /^src\/guard\/hook\/resident\/(?!resident-at|socket-path)|^src\/io\/(?:unix-socket|start-detached)/,
  ],
  [
    'guard',
    /^src\/rules\/(?!guard-home|ledger\/seal-line)|^src\/guard\/hook\/(?:answer-hook|codec-of|read-payload)\.ts$/,
  ],
  ['guard', /^src\/agents\/|^src\/core\/(?!sha256|version|error|exit-code)/],
]

const main = 'main'

interface Graph {
  /** Section by module. */
  readonly partOf: ReadonlyMap<string, string>
  /** What is imported from another section, with the names it exports. */
  readonly far: ReadonlyMap<string, readonly string[]>
}

/** Returns the modules that went into it, for their licences. */
export async function buildHook(file: string): Promise<readonly string[]> {
  const graph = await readGraph()
  const names = [...new Set(graph.partOf.values())].toSorted((a) => (a === main ? -1 : 1))
  const codes = await Promise.all(names.map((name) => sectionCode(name, graph)))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, archive(names, codes))
  return [...graph.partOf.keys()]
}

async function readGraph(): Promise<Graph> {
  const imports = new Map<string, readonly string[]>()
  const reader: Plugin = {
    name: 'read-graph',
    moduleParsed: ({ id, importedIds, dynamicallyImportedIds }) =>
      void imports.set(id, [...importedIds, ...dynamicallyImportedIds]),
  }
  await bundle(entry, [reader])
  const ids = [...imports.keys()].filter((id) => id.startsWith(root))
  const partOf = new Map(ids.map((id) => [id, partOfPath(relative(root, id))]))
  const far = new Map<string, readonly string[]>()
  for (const [importer, targets] of imports)
    for (const target of targets)
      if (partOf.has(target) && partOf.get(target) !== partOf.get(importer))
        far.set(target, Object.keys(await import(target)))
  return { partOf, far }
}

function partOfPath(path: string): string {
  for (const [name, pattern] of parts) {
    const found = pattern.exec(path)
    if (found !== null) return name.replace('$1', found[1] ?? '')
  }
  return main
}

/** What other sections import of it, each module under its path. */
async function sectionCode(name: string, { partOf, far }: Graph): Promise<string> {
  const offered = [...far.keys()].filter((id) => partOf.get(id) === name)
  const lines = offered.map((id) => `export * as ${keyOf(id)} from ${JSON.stringify(id)}`)
  if (name === main) lines.push(`export { hookMain } from ${JSON.stringify(entry)}`)
  const start = '\0entry.js'
  const assembled: Plugin = {
    name: 'section',
    async resolveId(id, importer, { kind }) {
      if (id === start) return id
      const found = await this.resolve(id, importer, { skipSelf: true })
      const part = found === null || importer === start ? undefined : partOf.get(found.id)
      return part === undefined || part === name || found === null
        ? null
        : `\0${kind === 'dynamic-import' ? 'later' : 'far'}:${found.id}.cjs`
    },
    load: (id) => {
      if (id === start) return { code: lines.join('\n'), moduleType: 'js' }
      const [, kind, target] = /^\0(far|later):(.+)\.cjs$/.exec(id) ?? []
      if (target === undefined) return null
      const from = `require('section:${partOf.get(target)}').${keyOf(target)}`
      return lazyExports(from, kind === 'later' ? (far.get(target) ?? []) : null)
    },
  }
  return inAscii(await bundle(start, [assembled]))
}

function keyOf(id: string): string {
  return relative(root, id).replaceAll(/\W/g, '_')
}

async function bundle(input: string, plugins: readonly Plugin[]): Promise<string> {
  const { output } = await build({
    input,
    cwd: root,
    platform: 'node',
    external: (id) => (id.startsWith('node:') && !slowToLoad.has(id)) || id.startsWith('section:'),
    plugins: [lazyBuiltins, startsProgramsItself, ...plugins],
    write: false,
    output: { format: 'cjs', codeSplitting: false, minify: true },
  })
  return output[0].code
}

/** The launcher with a table of where each section begins and ends, then the sections in a comment, which Node skips. */
function archive(names: readonly string[], plain: readonly string[]): string {
  const launcher = readFileSync(join(root, 'scripts/hook-launcher.js'), 'utf8').trimEnd()
  const codes = plain.map((code) => code.replaceAll('*/', commentEnd))
  const tableFrom = (start: number): string => {
    let at = start
    const rows = names.map((name, index) => {
      const from = at
      at += codes[index]?.length ?? 0
      // Of the same width whatever it is, so that the table is as long as it will be.
      return `"section:${name}":[${[from, at].map((place) => String(place).padStart(8)).join(',')}]`
    })
    return `{${rows.join(',')}}`
  }
  const before = (start: number): string => `${launcher.replace('SECTIONS', tableFrom(start))}\n/*`
  return `${before(before(0).length)}${codes.join('')}*/\n`
}

/** In code this can only stand in a string or a pattern; the launcher turns it back. */
const commentEnd = '*\u0001/'

/** One byte per character: read, kept and searched in half the time. In strings, patterns and names the escape means the same. */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  resolveId: (id) => (slowToLoad.has(id) ? `\0lazy:${id}.cjs` : null),
  load: (id) => {
    const [, name] = /^\0lazy:(.+)\.cjs$/.exec(id) ?? []
    if (name === undefined) return null
    return lazyExports(`process.getBuiltinModule(${JSON.stringify(name)})`)
  },
}

/** Looks up what is used when it is used. A dynamic import copies the names it finds, so that there they have to be told. */
function lazyExports(from: string, keys: readonly string[] | null = null) {
  const each = `Object.defineProperty(exports, key, { enumerable: true, get: () => ${from}[key] })`
  const code =
    keys === null
      ? `module.exports = new Proxy({}, { get: (_, key) => ${from}[key] })`
      : `for (const key of ${JSON.stringify(keys)}) ${each}`
  return { code, moduleType: 'js' as const }
}

/** A hook starts a few programs at most; the server that starts many of them quicker is a file of its own. */
const startsProgramsItself: Plugin = {
  name: 'starts-programs-itself',
  load: (id) =>
    id.endsWith('/src/io/spawn-client.ts')
      ? { code: 'export const spawnElsewhere = async () => null', moduleType: 'js' }
      : null,
}

if (process.argv[1] === import.meta.filename) {
  const file = process.argv[2] ?? join(root, 'node_modules/.cache/gantry/hook-bin.js')
  await buildHook(file)
  console.log(`built ${file}`)
}
