// Prints how easy the source is to read: `node scripts/house.ts [names|single|types]`.
// With an argument it lists the files or types of that figure. `test/architecture.test.ts` uses the same measurements.
import { readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { globSync } from 'tinyglobby'
import { type Step, ways } from './ways.ts'

export const root = join(import.meta.dirname, '..')

export interface Import {
  readonly from: string
  /** A path below the root, or the name of a package. */
  readonly to: string
}

/** Every source file that is not a test. */
export const sources: readonly string[] = globSync('src/**/*.ts', {
  cwd: root,
  ignore: ['**/*.test.ts', '**/*.conformance.ts'],
}).sort()

/** Code in other languages beside the module that reads it. */
const texts = globSync('src/**/*.{css,js,json,pl,sh,sql,txt,yaml}', { cwd: root, ignore: '**/fixtures/**' })

export const imports: readonly Import[] = sources.flatMap(importsOf)

/** Members of one family may each export a type of the same name: one per agent, engine or wire format. */
const families =
  /^src\/(?:agents|sandboxes|gates|suites|models\/boundary\/wire|models\/boundary\/script\/dialects)\/[^/]+/

/** Names that every room or every member of a family may use for the file with that role. */
const roles =
  /^(?:index|contract|schema|launch|stream|hooks|hook-config|provider|driver|engine|capabilities|bin|main|version)$/

if (import.meta.main) print(process.argv[2])

function print(list: string | undefined): void {
  const single = filesWithOneImporter()
  const names = unclearNames()
  const types = ambiguousTypes()
  const lists: Readonly<Record<string, readonly string[]>> = {
    single,
    names,
    types: types.map(({ name, files }) => `${name}: ${files.join(', ')}`),
  }
  printLines(list === undefined ? table(single, names, types) : (lists[list] ?? []))
}

function table(single: readonly string[], names: readonly string[], types: readonly unknown[]): string[] {
  const rows: [string, number | string, string][] = Object.entries(ways).map(([name, steps]) => {
    const { files, lineCount } = measureWay(steps)
    return [`files on the way of ${name}`, `${files} (${lineCount} lines)`, 'at most 15']
  })
  rows.push(
    ['source files', sources.length, 'at most 1500'],
    ['source files with exactly one importer', single.length, 'at most 450'],
    ['exported type names with two meanings', types.length, '0'],
    ['file names that name an export, of 100', clearNamesOf100(names), 'at least 95'],
    ['lines of ARCHITECTURE.md', lineCountOf('ARCHITECTURE.md'), 'at most 60'],
    ['lines of source', linesOf(sources), 'at most 130000'],
    ['lines of other languages that the source reads as text', linesOf(texts), 'counted apart'],
  )
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(
    ([label, value, wanted]) => `${label.padEnd(width)}  ${String(value).padEnd(16)}  ${wanted}`,
  )
}

function printLines(texts: readonly string[]): void {
  process.stdout.write(texts.map((text) => `${text}\n`).join(''))
}

export function filesWithOneImporter(): string[] {
  const importers = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    if (to.startsWith('src/')) importers.set(to, (importers.get(to) ?? new Set()).add(from))
  }
  return sources.filter((file) => importers.get(file)?.size === 1)
}

export function ambiguousTypes(): { readonly name: string; readonly files: readonly string[] }[] {
  const declaredIn = new Map<string, string[]>()
  for (const file of sources) {
    for (const [, name = ''] of read(file).matchAll(/^export (?:declare )?(?:interface|type) (\w+)/gm)) {
      declaredIn.set(name, [...(declaredIn.get(name) ?? []), file])
    }
  }
  return [...declaredIn]
    .map(([name, files]) => ({ name, files }))
    .filter(({ files }) => files.length > 1 && !areMembersOfOneFamily(files))
}

function areMembersOfOneFamily(files: readonly string[]): boolean {
  const members = files.map((file) => families.exec(file)?.[0])
  if (members.some((member) => member === undefined)) return false
  const parents = new Set(members.map((member = '') => dirname(member)))
  return parents.size === 1 && new Set(members).size === files.length
}

/** Files whose name is neither a role nor made of words of one of their exports. */
export function unclearNames(): string[] {
  return sources.filter((file) => {
    const name = basename(file, '.ts')
    if (roles.test(name)) return false
    const exported = read(file).matchAll(
      /^export (?:declare |async )*(?:function\*?|const|let|class|interface|type) (\w+)/gm,
    )
    const names = [...exported].map(([, found = '']) => wordsOf(found))
    // A file without exports is the start of a program.
    return names.length > 0 && !names.some((words) => name.split('-').every((word) => has(words, word)))
  })
}

/** `parseUserFiles` has the words parse, user and file. */
function wordsOf(name: string): readonly string[] {
  return name.split(/(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z\d])|_/).map((word) => singular(word.toLowerCase()))
}

/** A file may write two words as one: `openapi`, `sha256`. */
function has(words: readonly string[], word: string): boolean {
  return words.some((first, at) => first === singular(word) || `${first}${words[at + 1]}` === singular(word))
}

function singular(word: string): string {
  return word.replace(/(?<!s)s$/, '')
}

function clearNamesOf100(unclear: readonly string[]): number {
  return Math.floor((100 * (sources.length - unclear.length)) / sources.length)
}

/** Counts the files of a way, and throws when a step is not called by an earlier one: then the list is out of date. */
export function measureWay(steps: readonly Step[]): { readonly files: number; readonly lineCount: number } {
  const seen: string[] = []
  for (const step of steps) {
    const [file = '', name = ''] = step.split('#')
    const text = read(file)
    if (!new RegExp(`\\b${name}\\b`).test(text)) throw new Error(`scripts/ways.ts: ${file} has no ${name}`)
    const users = seen.filter((earlier) => imports.some(({ from, to }) => from === earlier && to === file))
    if (
      seen.length > 0 &&
      !seen.includes(file) &&
      !users.some((user) => new RegExp(`\\b${name}\\b`).test(read(user)))
    ) {
      throw new Error(`scripts/ways.ts: no earlier file of the way imports ${name} of ${file}`)
    }
    if (!seen.includes(file)) seen.push(file)
  }
  return { files: seen.length, lineCount: linesOf(seen) }
}

function importsOf(file: string): Import[] {
  const specifiers = read(file).matchAll(
    /(?:^|[\s;])(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm,
  )
  return [...specifiers].map(([, a, b, c]) => {
    const to = a ?? b ?? c ?? ''
    return { from: file, to: to.startsWith('.') ? normalize(join(dirname(file), to)) : to }
  })
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + lineCountOf(file), 0)
}

function lineCountOf(file: string): number {
  return read(file).split('\n').length - 1
}
