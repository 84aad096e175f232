import { readTextInside } from '../../io/files.ts'
import { isRealDirectory, listDirectory, toBytes } from '../../io/list-directory.ts'
import { sha256 } from '../../io/sha256.ts'
import type { DeclaredCommand, TestFileFacts, TestInventory } from '../contract.ts'
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
