// Makes hook-bin.js: the hook program in one file, which compiles and loads only what the current event needs.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Plugin } from 'rolldown'
import { inlineTexts, textsBeside } from './inline-texts.ts'
import { standIn } from './stand-in.ts'

const root = join(import.meta.dirname, '..')
const entry = join(root, 'src/hook-main.ts')

/** Node modules that are slow to load: loaded when one of their functions is first used. */
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
 * first used. Modules in no part belong to the main section, which is always loaded. Modules must have no side effects on load.
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
    /^src\/shell\/(?:builtins|expand-(?:braces|glob|parameter)|glob-reg-exp|unescape-text)\.ts$/,
  ],
  [
    'shell-words',
    /^node_modules\/unbash\/dist\/(?:ansi-c|arithmetic|arithmetic-parts|heredoc|traversal)\.js$/,
  ],
  ['evidence', /^src\/shell\/(?:exit-status|script-state|simple-command|unwrap-command|walk-script)\.ts$/],
  ['guard', /^src\/shell\/wrappers\.ts$/],
  ['wrappers', /^src\/shell\/(?:wrapper-table|(?:package|process|system)-wrappers)\.ts$/],
  ['shell', /^node_modules\/unbash\/|^src\/shell\//],
  ['yaml', /^node_modules\/yaml\/|^src\/io\/yaml-source\.ts$/],
  ['installers', /^src\/agents\/(?:hook-config\/|hook-installers|.*\/(?:hook-config|guard-plugin)\.ts)/],
  ['keep-hooks', /^src\/guard-install\/|^src\/io\/(?:remove-if-empty|replace-file)\.ts$/],
  ['agent-$1', /^src\/agents\/(claude-code|codex|gemini|copilot|cursor|opencode)\//],
  ['globs', /^node_modules\/picomatch\/|^src\/guard-engine\/glob-of\.ts$/],
  ['settings-of-agents', /^src\/guard-engine\/seal\/steering-content\.ts$/],
  ['guard', /^src\/guard-engine\/seal\/seal-files\.ts$/],
  ['unknown-tools', /^src\/guard-engine\/tool-input(?:\/|-targets\.ts$)/],
  ['write-limits', /^src\/guard-engine\/write-limits\//],
  ['before-a-tool', /^src\/rules\/(?:confine-writes|protect-(?:files|itself)|refuse-unseen-input)\.ts$/],
  ['before-a-tool', /^src\/guard-engine\/(?:targets\.ts|seal\/)/],
  ['protection', /^src\/guard-engine\/(?:protection\/|protected-path\.ts$)|^src\/io\/file-state\.ts$/],
  ['evidence', /^src\/guard-engine\/(?:evidence\/(?!lasting-change)|run-verification\.ts)/],
  ['evidence', /^src\/core\/(?:kind-of-command\.ts|test-output\/)/],
  ['turns', /^src\/guard-engine\/ledger\/tidy-home\.ts$/],
  ['turns', /^src\/rules\/(?:completion-gate|inject-context|relay-compaction|sum-up)\.ts$/],
  [
    'project',
    /^src\/guard-engine\/(?:project\/(?!command-sources)|tests\/(?!test-files|build-outputs)|context\/|gate\/)/,
  ],
  ['settings-files', /^src\/guard-engine\/settings\/check-values\.ts$|^src\/core\/(?:nearest\.ts$|jsonc\/)/],
  [
    'processes',
    /^src\/io\/(?:exec|process-|start-child|start-failure|spawn-|git-|tree-|blob-id|follow-|open-pipe)/,
  ],
  ['processes', /^src\/io\/(?:capped-|ids)/],
  ['processes', /^src\/guard-engine\/facts\/(?:tree-|put-away|kept-)/],
  ['after-a-tool', /^src\/rules\/(?:count-edits|detect-loops|keep-hooks|time-budget|track-tasks)\.ts$/],
  [
    'after-a-tool',
    /^src\/guard-engine\/(?:outcome-signature|tests\/(?:test-files|build-outputs)|loops\/.*|views\/write-views)\.ts$/,
  ],
  ['after-a-tool', /^src\/io\/(?:rotating-log|lock|content-hash)\.ts$/],
  [
    'resident',
    /^src\/guard\/hook\/resident\/|^src\/guard-install\/|^src\/io\/(?:unix-socket|start-detached)/,
  ],
  [
    'guard',
    /^src\/(?:rules|guard-engine)\/(?!ledger\/(?:ledger-place|seal-line))|^src\/guard\/hook\/answer-hook\.ts$/,
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

/** Returns the bundled modules, for their licences. */
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
  // Packages may be links to another place, and then they are in no section.
  const ofSource = parts.filter(([, { source }]) => !source.startsWith('^node_modules'))
  const unused = ofSource.filter(([, pattern]) => !ids.some((id) => pattern.test(relative(root, id))))
  if (unused.length > 0)
    throw new Error(`no module matches ${unused.map(([, pattern]) => pattern).join(', ')}`)
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

/** The main section is loaded first. Of the others, only exports with a stand-in can stay unloaded. */
function canForward(id: string, { partOf, far }: Graph): boolean {
  return (
    partOf.get(id) === main || Object.values(far.get(id) ?? {}).every((value) => standIn(value, '') !== null)
  )
}

/** A module that loads another section at the first call and forwards to it. */
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
    external: (id) => id.startsWith('section:'),
    plugins: [builtins, startsProgramsItself, inlineTexts, ...plugins],
    write: false,
    // On a busy machine it would report how long our plugins took, and always that one file has no chunks.
    checks: { pluginTimings: false, ineffectiveDynamicImport: false },
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
      // Fixed width, so that the length of the table is known in advance.
      const [first, end] = [from, at].map((place) => String(place).padStart(8))
      return `"section:${name}":{"from":${first},"to":${end},"codeLength":${codes[index]?.length}}`
    })
    return `{${rows.join(',')}}`
  }
  const before = (start: number): string => `${launcher.replace('SECTIONS', tableFrom(start))}\n/*packed\n`
  return `${before(before(0).length)}${packed.join('')}*/\n`
}

/** One byte per character: twice as fast to read and search. In strings, patterns and names the escape means the same. */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Only what is used of a module is read: to copy all names, as bundles do, loads modules behind some of them. */
const builtins: Plugin = {
  name: 'builtins',
  resolveId: (id) => (id.startsWith('node:') ? `\0builtin:${id}.${slowToLoad.has(id) ? 'cjs' : 'js'}` : null),
  async load(id) {
    const [, name, form] = /^\0builtin:(.+)\.(c?js)$/.exec(id) ?? []
    if (name === undefined) return null
    const builtin = `process.getBuiltinModule(${JSON.stringify(name)})`
    if (form === 'cjs') return lazyExports((key) => `${builtin}[${key}]`)
    const names = Object.keys(await import(name)).filter((key) => /^\w+$/.test(key) && key !== 'default')
    const lines = names.map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})()`)
    return {
      code: [`const builtin = ${builtin}`, ...lines, 'export default builtin'].join('\n'),
      moduleType: 'js',
    }
  },
}

/** Looks up each export when it is used. A dynamic import copies the names it finds, so it needs the list. */
function lazyExports(from: (key: string) => string, keys: readonly string[] | null = null) {
  const each = `Object.defineProperty(exports, key, { enumerable: true, get: () => ${from('key')} })`
  const code =
    keys === null
      ? `module.exports = new Proxy({}, { get: (_, key) => ${from('key')} })`
      : `for (const key of ${JSON.stringify(keys)}) ${each}`
  return { code, moduleType: 'js' as const }
}

/** A hook starts few programs, so the bundle leaves out the client of the spawn server. */
const startsProgramsItself: Plugin = {
  name: 'starts-programs-itself',
  load: (id) =>
    id.endsWith('/src/io/spawn-client.ts')
      ? { code: 'export const spawnElsewhere = async () => null', moduleType: 'js' }
      : null,
}

/**
 * Makes the bundle that `bin/hook-bin.js` runs. It has a unique name, and the list of its sources is written last: a hook that
 * starts in between sees the old bundle or the new one. A source that changes during the build invalidates it.
 */
async function buildForCheckout(): Promise<void> {
  const cache = join(root, 'node_modules/.cache/gantry')
  const startedMs = Date.now()
  const directory = `hook-${startedMs}-${process.pid}`
  const file = join(cache, directory, 'hook-bin.js')
  const lock = join(cache, 'hook-bundle.lock')
  // A failed build leaves the lock, so that not every hook starts another one.
  const modules = await buildHook(file)
  try {
    const own = ['build-hook.ts', 'inline-texts.ts', 'stand-in.ts', 'hook-launcher.js']
    // Represents all packages: npm writes it whenever they change.
    const packages = 'node_modules/.package-lock.json'
    const files = [...modules, ...modules.flatMap(textsBeside)]
      .map((id) => relative(root, id))
      .filter((path) => !path.startsWith('node_modules'))
    const sources = [...files, ...own.map((name) => `scripts/${name}`), packages].flatMap((path) => {
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      return found === undefined ? [] : [{ path, size: found.size, mtimeMs: found.mtimeMs }]
    })
    // A time in the future comes from a wrong clock, not from a change during the build.
    if (sources.some(({ mtimeMs }) => mtimeMs >= startedMs && mtimeMs <= Date.now() + 1000)) {
      rmSync(join(cache, directory), { recursive: true, force: true })
      return
    }
    const list = join(cache, 'hook-bundle.json')
    const identities = sources.map(({ path, size, mtimeMs }) => [path, `${size}-${mtimeMs}`])
    const made = { bundle: `${directory}/hook-bin.js`, size: statSync(file).size, sources: identities }
    writeFileSync(`${list}.${process.pid}.tmp`, JSON.stringify(made))
    // The name must not reach the disk before the content.
    for (const path of [file, `${list}.${process.pid}.tmp`]) syncFile(path)
    renameSync(`${list}.${process.pid}.tmp`, list)
    removeOlder(cache, directory)
  } finally {
    rmSync(lock, { force: true })
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r+')
  fsyncSync(fd)
  closeSync(fd)
}

/** Keeps the last one: running hooks may still read it. */
function removeOlder(cache: string, newest: string): void {
  const older = readdirSync(cache).filter((name) => /^hook-\d+-\d+$/.test(name) && name !== newest)
  for (const name of older.toSorted().slice(0, -1))
    rmSync(join(cache, name), { recursive: true, force: true })
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === '--for-checkout') await buildForCheckout()
  else {
    const file = process.argv[2] ?? join(root, 'node_modules/.cache/gantry/hook-bin.js')
    await buildHook(file)
    console.log(`built ${file}`)
  }
}
