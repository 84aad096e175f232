// Makes hook-bin.js: the program of the hooks in one file, which neither compiles nor loads what the event at hand does not need.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Plugin } from 'rolldown'
import { standIn } from './stand-in.ts'

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
  ['shell-git', /^src\/shell\/programs\/(?:git|tracked)/],
  ['shell-code', /^src\/shell\/(?:code\/(?!interpreter-call)|run-scripts\.ts)/],
  ['shell-files', /^src\/shell\/programs\/(?:archives|copies|downloads|editors|find)\.ts$/],
  [
    'shell-files',
    /^src\/shell\/(?:argument-feeders|containers|file-lists|patched-paths|powershell|text-filters)\.ts$/,
  ],
  [
    'shell-words',
    /^src\/shell\/(?:builtins|expand-(?:braces|glob|parameter)|glob-pattern|unescape-text)\.ts$/,
  ],
  [
    'shell-words',
    /^node_modules\/unbash\/dist\/(?:ansi-c|arithmetic|arithmetic-parts|heredoc|traversal)\.js$/,
  ],
  ['evidence', /^src\/shell\/(?:exit-status|script-state|simple-command|unwrap-command|walk-script)\.ts$/],
  ['guard', /^src\/shell\/wrappers\.ts$/],
  ['shell', /^node_modules\/unbash\/|^src\/shell\//],
  ['yaml', /^node_modules\/yaml\/|^src\/io\/yaml-source\.ts$/],
  ['installers', /^src\/agents\/(?:hook-config\/|hook-installers|.*\/(?:hook-config|guard-plugin)\.ts)/],
  ['installers', /^src\/guard\/hook\/has-own-hook\.ts$/],
  ['agent-$1', /^src\/agents\/(claude-code|codex|gemini|copilot|cursor|opencode)\//],
  ['globs', /^node_modules\/picomatch\/|^src\/(?:rules|guard-engine)\/glob-of\.ts$/],
  [
    'settings-of-agents',
    /^src\/core\/jsonc\/|^src\/(?:rules|guard-engine)\/seal\/(?:steering-content|seal-files|first-seal)\.ts$/,
  ],
  [
    'unknown-tools',
    /^src\/(?:rules|guard-engine)\/(?:tool-input\/|(?:tool-input-targets|protected-below|named-paths)\.ts$)/,
  ],
  ['write-limits', /^src\/guard-engine\/write-limits\//],
  [
    'before-a-tool',
    /^src\/(?:rules|guard-engine)\/(?:confine-writes|protect-(?:files|itself)|protected-path|refuse-unseen-input|targets)\.ts$/,
  ],
  ['before-a-tool', /^src\/(?:rules|guard-engine)\/seal\//],
  ['evidence', /^src\/(?:rules|guard-engine)\/(?:evidence\/(?!lasting-change)|verify\/)/],
  ['evidence', /^src\/core\/(?:kind-of-command\.ts|test-output\/)/],
  [
    'turns',
    /^src\/(?:rules|guard-engine)\/(?:completion-gate|inject-context|relay-compaction|broken-settings)\.ts$/,
  ],
  [
    'project',
    /^src\/(?:rules|guard-engine)\/(?:project\/(?!declaring-files)|tests\/(?!test-files)|context\/|gate\/)/,
  ],
  [
    'settings-files',
    /^src\/(?:rules|guard-engine)\/settings\/(?:check-values|json-source)\.ts$|^src\/core\/nearest\.ts$/,
  ],
  ['processes', /^src\/io\/(?:exec|process-|start-child|start-failure|spawn-|git-|tree-|blob-id|follow-)/],
  ['processes', /^src\/io\/(?:capped-|ids)|^src\/(?:rules|guard-engine)\/facts\/tree-fingerprint\.ts$/],
  [
    'after-a-tool',
    /^src\/(?:rules|guard-engine)\/(?:trace\/append-trace|facts\/edited-files|tests\/test-files)\.ts$/,
  ],
  [
    'after-a-tool',
    /^src\/(?:rules|guard-engine)\/(?:count-edits|detect-loops|time-budget|track-tasks|loops\/.*)\.ts$/,
  ],
  [
    'after-a-tool',
    /^src\/(?:rules|guard-engine)\/(?:store-event\/(?:normalise-line|outcome-signature)|views\/(?!show-event|views-directory).*)\.ts$/,
  ],
  ['after-a-tool', /^src\/io\/(?:rotating-log|lock|content-hash)\.ts$/],
  [
    'resident',
    /^src\/guard\/hook\/resident\/(?!resident-at|socket-path)|^src\/io\/(?:unix-socket|start-detached)/,
  ],
  [
    'guard',
    /^src\/(?:rules|guard-engine)\/(?!guard-home|ledger\/seal-line)|^src\/guard\/hook\/(?:answer-hook|codec-of|read-payload)\.ts$/,
  ],
  ['guard', /^src\/agents\/|^src\/core\/(?!sha256|version|error|exit-code)/],
]

const main = 'main'

interface Graph {
  /** Section by module. */
  readonly partOf: ReadonlyMap<string, string>
  /** Modules that another section imports from, with what they export. */
  readonly far: ReadonlyMap<string, Readonly<Record<string, unknown>>>
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
  const far = new Map<string, Readonly<Record<string, unknown>>>()
  for (const [importer, targets] of imports)
    for (const target of targets)
      if (partOf.has(target) && partOf.get(target) !== partOf.get(importer))
        far.set(target, await import(target))
  return { partOf, far }
}

function partOfPath(path: string): string {
  for (const [name, pattern] of parts) {
    const found = pattern.exec(path)
    if (found !== null) return name.replace('$1', found[1] ?? '')
  }
  return main
}

/** What other sections import of it is one list: to define as many names takes longer than to load the code. */
async function sectionCode(name: string, graph: Graph): Promise<string> {
  const { partOf } = graph
  const start = '\0entry.js'
  const assembled: Plugin = {
    name: 'section',
    async resolveId(id, importer, { kind }) {
      if (id === start) return id
      const found = await this.resolve(id, importer, { skipSelf: true })
      const part = found === null || importer === start ? undefined : partOf.get(found.id)
      if (part === undefined || part === name || found === null) return null
      const form = canForward(found.id, graph) ? 'js' : 'cjs'
      return `\0${kind === 'dynamic-import' ? 'later' : 'far'}:${found.id}.${form}`
    },
    load: (id) => {
      if (id === start) return { code: entryCode(name, graph), moduleType: 'js' }
      const [, kind, target, form] = /^\0(far|later):(.+)\.(c?js)$/.exec(id) ?? []
      if (target === undefined) return null
      if (form === 'js') return { code: forwards(target, graph), moduleType: 'js' }
      const places = Object.keys(graph.far.get(target) ?? {}).map((key) => [key, placeOf(target, key, graph)])
      const table = JSON.stringify(Object.fromEntries(places))
      const from = (key: string): string => `${sectionOf(target, graph)}[${table}[${key}]]`
      return lazyExports(from, kind === 'later' ? Object.keys(graph.far.get(target) ?? {}) : null)
    },
  }
  return inAscii(await bundle(start, [assembled]))
}

function entryCode(name: string, graph: Graph): string {
  const modules = [...new Set(offeredBy(name, graph).map(({ id }) => id))]
  const lines = modules.map((id, index) => `import * as module${index} from ${JSON.stringify(id)}`)
  const values = offeredBy(name, graph).map(({ id, key }) => `module${modules.indexOf(id)}.${key}`)
  const more = name === main ? [`export { hookMain } from ${JSON.stringify(entry)}`] : []
  return [...lines, `export const offered = [${values.join(', ')}]`, ...more].join('\n')
}

function offeredBy(name: string | undefined, { partOf, far }: Graph) {
  const modules = [...far].filter(([id]) => partOf.get(id) === name)
  return modules.flatMap(([id, names]) => Object.keys(names).map((key) => ({ id, key })))
}

/** In the list that a section offers. */
function placeOf(id: string, key: string, graph: Graph): number {
  return offeredBy(graph.partOf.get(id), graph).findIndex((one) => one.id === id && one.key === key)
}

function sectionOf(id: string, { partOf }: Graph): string {
  return `require('section:${partOf.get(id)}').offered`
}

/** The main section is there before any other; of the others only what has a stand-in need not be loaded yet. */
function canForward(id: string, { partOf, far }: Graph): boolean {
  return (
    partOf.get(id) === main || Object.values(far.get(id) ?? {}).every((value) => standIn(value, '') !== null)
  )
}

/** A module that calls another section, which is loaded with the first call. */
function forwards(id: string, graph: Graph): string {
  const lines = Object.entries(graph.far.get(id) ?? {}).map(([key, value]) => {
    const there = `${sectionOf(id, graph)}[${placeOf(id, key, graph)}]`
    if (typeof value !== 'string' && graph.partOf.get(id) === main)
      return `export const ${key} = /* @__PURE__ */ (() => ${there})()`
    return `export const ${key} = /* @__PURE__ */ (() => ${standIn(value, there)})()`
  })
  return lines.join('\n')
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

/** The launcher with a table of where each section begins and ends, then the sections in a comment, packed: Node scans less. */
function archive(names: readonly string[], plain: readonly string[]): string {
  const launcher = readFileSync(join(root, 'scripts/hook-launcher.js'), 'utf8').trimEnd()
  const codes = plain.map((code) => `(function (exports, require, module) {${code}\n})`)
  const packed = codes.map((code) => brotliCompressSync(code).toString('base64'))
  const tableFrom = (start: number): string => {
    let at = start
    const rows = names.map((name, index) => {
      const from = at
      at += packed[index]?.length ?? 0
      // Of the same width whatever it is, so that the table is as long as it will be.
      const [first, end] = [from, at].map((place) => String(place).padStart(8))
      return `"section:${name}":{"from":${first},"to":${end},"codeLength":${codes[index]?.length}}`
    })
    return `{${rows.join(',')}}`
  }
  const before = (start: number): string => `${launcher.replace('SECTIONS', tableFrom(start))}\n/*`
  return `${before(before(0).length)}${packed.join('')}*/\n`
}

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
    return lazyExports((key) => `process.getBuiltinModule(${JSON.stringify(name)})[${key}]`)
  },
}

/** Looks up what is used when it is used. A dynamic import copies the names it finds, so that there they have to be told. */
function lazyExports(from: (key: string) => string, keys: readonly string[] | null = null) {
  const each = `Object.defineProperty(exports, key, { enumerable: true, get: () => ${from('key')} })`
  const code =
    keys === null
      ? `module.exports = new Proxy({}, { get: (_, key) => ${from('key')} })`
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
