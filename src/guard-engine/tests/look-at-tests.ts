import { counted } from '../../core/counted.ts'
import { shorten } from '../../core/shorten.ts'
import { readTextInside } from '../../io/files.ts'
import { isRealDirectory, listDirectory, toBytes } from '../../io/list-directory.ts'
import { sha256 } from '../../io/sha256.ts'
import type { DeclaredCommand, TestFileFacts, TestInventory } from '../contract.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'
import { commandDefinition } from './command-definition.ts'
import { type TestLanguage, testLanguage } from './test-files.ts'

const maxFiles = 2_000
const maxEntries = 300_000
const maxFileBytes = 512 * 1024
const hashChars = 16

/** The tests as they lie on the disk. Bounded: a project with more test files than this is known by the first ones. */
export async function lookAtTests(
  root: string,
  declared: readonly Pick<DeclaredCommand, 'command' | 'kind'>[],
): Promise<TestInventory> {
  const files: Record<string, TestFileFacts> = {}
  for (const { path, language } of testFiles(root)) {
    const facts = factsOf(root, path, language)
    if (facts !== null) files[path] = facts
  }
  const definitions: Record<string, string> = {}
  for (const { command, kind } of declared) {
    // Kept also when nothing defines it: what comes to define it later changes it.
    definitions[command] = commandDefinition(root, command, kind) ?? ''
  }
  return { files, definitions }
}

interface TestFile {
  readonly path: string
  readonly language: TestLanguage
}

/** Breadth first and sorted, so that the bound always cuts at the same place. */
function testFiles(root: string): readonly TestFile[] {
  const found: TestFile[] = []
  const directories = ['']
  let entries = 0
  for (const prefix of directories) {
    for (const { name, isDirectory } of entriesOf(`${root}/${prefix}`)) {
      entries += 1
      if (entries > maxEntries || found.length >= maxFiles) return found
      const path = prefix + name
      if (isDirectory) {
        if (!passedOver.has(name)) directories.push(`${path}/`)
        continue
      }
      const language = testLanguage(path)
      if (language !== null) found.push({ path, language })
    }
  }
  return found
}

/** Dependencies, outputs and caches: nobody's tests. */
const passedOver = new Set([
  'node_modules',
  '.git',
  '.hg',
  '.svn',
  '.harness',
  '.venv',
  'venv',
  '__pycache__',
  '.tox',
  '.nox',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  'dist',
  'build',
  'out',
  'target',
  'vendor',
  'coverage',
  '.next',
  '.nuxt',
  '.turbo',
  '.cache',
  '.gradle',
  'Pods',
])

function entriesOf(directory: string): readonly { readonly name: string; readonly isDirectory: boolean }[] {
  try {
    if (!isRealDirectory(directory.replace(/\/$/, ''))) return []
    return listDirectory(directory)
      .flatMap((entry) => {
        const name = entry.name.toString()
        // Beside one name that is no UTF-8 all come as bytes; only that one cannot be looked at.
        if (!toBytes(entry.name).equals(Buffer.from(name)) || entry.isSymbolicLink()) return []
        return entry.isDirectory() || entry.isFile() ? [{ name, isDirectory: entry.isDirectory() }] : []
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    // A directory that cannot be listed holds no test that could be counted.
    return []
  }
}

/** null for a file that is gone by now, or a source without tests. */
function factsOf(root: string, path: string, language: TestLanguage): TestFileFacts | null {
  const read = readTextInside(root, path, { maxBytes: maxFileBytes })
  if (read.kind === 'too_large')
    return language.anywhere ? null : { hash: `${read.bytes} bytes`, cases: 0, skipped: 0, assertions: 0 }
  if (read.kind !== 'text') return null
  const code = read.text.replaceAll(language.comments, '')
  const count = (pattern: RegExp): number => code.match(pattern)?.length ?? 0
  const cases = count(language.cases)
  if (language.anywhere && cases === 0) return null
  const skipped = count(language.skipped)
  return {
    hash: sha256(read.text).slice(0, hashChars),
    cases,
    skipped,
    assertions: count(language.assertions),
  }
}

/** What became weaker between two looks at the tests, one sentence each; the same weakening has the same sentence. */
export function weakenings(before: TestInventory | null, after: TestInventory | null): readonly string[] {
  if (before === null || after === null) return []
  return [...weakerFiles(before, after), ...changedDefinitions(before, after)]
}

function weakerFiles(before: TestInventory, after: TestInventory): readonly string[] {
  const appeared = new Set(
    Object.entries(after.files)
      .filter(([path]) => !Object.hasOwn(before.files, path))
      .map(([, { hash }]) => hash),
  )
  return Object.entries(before.files).flatMap(([path, was]) => {
    const is = Object.hasOwn(after.files, path) ? after.files[path] : undefined
    if (is !== undefined) return weaker(path, was, is)
    // The same content under another name was moved, not deleted.
    if (was.cases === 0 || appeared.has(was.hash)) return []
    return [`${shown(path)} with ${counted(was.cases, 'test')} was deleted`]
  })
}

function weaker(path: string, was: TestFileFacts, is: TestFileFacts): readonly string[] {
  if (was.hash === is.hash) return []
  const name = shown(path)
  const found: string[] = []
  if (is.cases < was.cases) found.push(`${name} has ${counted(is.cases, 'test')}, before it had ${was.cases}`)
  if (is.skipped > was.skipped)
    found.push(`${name} has ${counted(is.skipped, 'skipped or narrowed test')}, before it had ${was.skipped}`)
  if (is.assertions < was.assertions)
    found.push(`${name} has ${counted(is.assertions, 'assertion')}, before it had ${was.assertions}`)
  return found
}

function changedDefinitions(before: TestInventory, after: TestInventory): readonly string[] {
  return Object.entries(before.definitions).flatMap(([command, was]) => {
    const is = Object.hasOwn(after.definitions, command) ? after.definitions[command] : undefined
    if (is === was || (was === '' && isFirst(command, is ?? ''))) return []
    const now = is === undefined || is === '' ? 'it is no longer defined' : `now: ${shown(is)}`
    const then = was === '' ? 'nothing in the project' : shown(was)
    return [`the definition of ${shown(command)} changed; before: ${then}; ${now}`]
  })
}

/**
 * The script, target or file without which the command could not run at all; not what only configures it, and none that
 * succeeds on anything.
 */
function isFirst(command: string, definition: string): boolean {
  return definition.split('\n').some((line) => {
    const file = /^(\S+) \([\da-f]{12}\)$/.exec(line)?.[1]
    if (file !== undefined) return command.includes(file)
    return !/^\.npmrc: |^pnpm-workspace\.yaml: /.test(line) && provesNothing(line) === null
  })
}

/** Text of the repository, quoted as data. */
function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return JSON.stringify(shorten(line, 160))
}
