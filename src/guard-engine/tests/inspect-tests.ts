import { dirname, join } from 'node:path'
import { readTextInside } from '../../io/files.ts'
import { isRealDirectory, listDirectory, listIfReadable, type Path } from '../../io/list-directory.ts'
import { textInside } from '../../io/read-text-inside.ts'
import type { DeclaredCommand, TestFileFacts, TestInventory } from '../contract.ts'
import { skipsDirectory } from '../generated-directories.ts'
import { cmakeBuild } from './build-outputs.ts'
import { commandDefinition, nestedNames } from './command-definition.ts'
import { type Machine, machineState } from './machine-state.ts'
import { builtTargets } from './make-target.ts'
import { packageStates } from './package-states.ts'
import { type TestLanguage, testHash, testLanguage } from './test-files.ts'
import { isLibraryOfTests, testedNames } from './tested-names.ts'
import { looseIn, untestedIn } from './untested-in.ts'

const maxFiles = 2_000
const maxEntries = 300_000
const maxFileBytes = 512 * 1024
const maxNested = 200
const maxProgramBytes = 16 * 1024 * 1024

/** A snapshot of the tests on the disk. Bounded: in a project with more test files, only the first ones are included. */
export async function inspectTests(
  root: string,
  declared: readonly Pick<DeclaredCommand, 'command' | 'kind'>[],
  on: Machine | null = null,
  list: typeof listDirectory = listDirectory,
): Promise<TestInventory> {
  const files: Record<string, TestFileFacts> = {}
  const { found, nested } = testFiles(root, list)
  for (const { path, language } of found) {
    const facts = factsOf(root, path, language)
    if (facts !== null) files[path] = facts
  }
  const text = (path: string): string | null => textInside(root, path, maxProgramBytes)
  const definitions: Record<string, string> = {}
  const machine: Record<string, Readonly<Record<string, string>>> = {}
  const packages = on?.home == null ? {} : packageStates({ root, home: on.home }, on.packages)
  for (const { command, kind } of declared) {
    // Included even when nothing defines it, so that a later definition counts as a change.
    const definition = commandDefinition(root, command, kind, nested) ?? ''
    definitions[command] = definition
    if (on !== null)
      machine[command] = {
        ...machineState(root, command, definition, on),
        ...packages,
        ...builtTargets(root, command, text),
        ...cmakeBuild(root, `${command}\n${definition}`),
      }
  }
  return on === null ? { files, definitions } : { files, definitions, machine }
}

interface TestFile {
  readonly path: string
  readonly language: TestLanguage
}

/** Breadth first and sorted, so that the limit always cuts at the same place. */
function testFiles(
  root: string,
  list: typeof listDirectory,
): {
  readonly found: readonly TestFile[]
  /** Files below the root that configure a framework. */
  readonly nested: readonly string[]
} {
  const found: TestFile[] = []
  const nested: string[] = []
  const directories = ['']
  let entries = 0
  for (const prefix of directories) {
    const directory = prefix === '' ? root : `${root}/${prefix.slice(0, -1)}`
    // Tests in an unreadable directory cannot be counted.
    const all = isRealDirectory(directory) ? listIfReadable(directory, list) : []
    entries += all.length
    const below: string[] = []
    const files: TestFile[] = []
    for (const entry of all) {
      const name = nameOf(entry)
      if (name === null) continue
      const path = prefix + name
      if (entry.isDirectory()) {
        if (!isPassedOver(name)) below.push(`${path}/`)
        continue
      }
      const language = testLanguage(path)
      const isNested = prefix !== '' && nestedNames.has(name)
      if ((language === null && !isNested) || !entry.isFile()) continue
      if (isNested && nested.length < maxNested) nested.push(path)
      if (language !== null) files.push({ path, language })
    }
    directories.push(...below.sort())
    found.push(...files.sort((a, b) => (a.path < b.path ? -1 : 1)))
    if (entries > maxEntries || found.length >= maxFiles) return { found: found.slice(0, maxFiles), nested }
  }
  return { found, nested }
}

/** Dependencies, outputs and caches, whose tests are not the project's. */
function isPassedOver(name: string): boolean {
  return skipsDirectory(name) || name === '.harness' || name === 'Pods'
}

/** If one name is not UTF-8, all names are returned as bytes. Only that file is skipped: null. */
function nameOf({ name }: { readonly name: Path }): string | null {
  if (typeof name === 'string') return name
  const text = name.toString()
  return name.equals(Buffer.from(text)) ? text : null
}

/** null for a file that no longer exists, or a source without tests. */
function factsOf(root: string, path: string, language: TestLanguage): TestFileFacts | null {
  const read = readTextInside(root, path, { maxBytes: maxFileBytes })
  if (read.kind === 'too_large')
    return language.anywhere ? null : { hash: `${read.bytes} bytes`, cases: 0, skipped: 0, assertions: 0 }
  if (read.kind !== 'text') return null
  const code = read.text.replaceAll(language.comments, '')
  const count = (pattern: RegExp): number => code.match(pattern)?.length ?? 0
  const cases = count(language.cases)
  if (language.anywhere && cases === 0) return null
  const inverted = language.inverted === undefined ? 0 : count(language.inverted)
  const isOwn = (place: string): boolean => isEmptyModule(root, path, place)
  const skipped =
    count(language.skipped) + ownMocks(path, code) + untestedIn(path, code) + ownFrameworks(code, isOwn)
  // What other files do to this one, which may be the same as before.
  const byOthers = shadowedModules(root, path, code) + helperMocks(root, path, code)
  const loose = looseIn(code)
  return {
    hash: byOthers === 0 ? testHash(read.text) : `${testHash(read.text)}+${byOthers}`,
    cases,
    skipped: skipped + byOthers,
    assertions: count(language.assertions),
    ...(inverted > 0 && { inverted }),
    ...(loose > 0 && { loose }),
    ...namesIn(code, language),
    ...(language.ends?.test(code) === true && { ends: true }),
    ...(loadsSubject(code) && { loads: true }),
    ...testedNames(path, code, (place) => helperText(root, path, place)),
    ...checksIn(code, language),
  }
}

/**
 * Modules of the project that a test takes from somewhere else: in JavaScript from a file without an ending beside the source, in Python from
 * a package beside the module, or from another directory by `sys.path`.
 */
function shadowedModules(root: string, path: string, code: string): number {
  const isThere = (file: string): boolean => textInside(root, file, maxFileBytes) !== null
  const isScript = scripts.test(path)
  if (!isScript && !path.endsWith('.py')) return 0
  const names = isScript
    ? []
    : [...code.matchAll(/^[ \t]*(?:from|import)[ \t]+(\w+)/gm)].map(([, name = '']) => name)
  const bare = isScript
    ? [...code.matchAll(relativeModule)].map(([, place = '']) => join(dirname(path), place))
    : names.flatMap((name) => [name, join('src', name)])
  const isShadowed = (place: string): boolean =>
    isScript
      ? isThere(place) && ['.js', '.cjs', '.mjs', '.ts', '.jsx', '.tsx'].some((end) => isThere(place + end))
      : isThere(join(place, '__init__.py')) && isThere(`${place}.py`)
  return bare.filter(isShadowed).length + fromElsewhere(path, code, { names, isThere })
}

const scripts = /\.[cm]?[jt]sx?$/
const relativeModule = /['"](\.{1,2}\/[^'"\n]{1,200})['"]/g

function fromElsewhere(
  path: string,
  code: string,
  { names, isThere }: { readonly names: readonly string[]; isThere(file: string): boolean },
): number {
  const places = [...code.matchAll(/\bsys\.path\.insert\(\s*0,([^\n]{1,300})/g)].flatMap(([, text = '']) => {
    const names = [...text.matchAll(/['"]([^'"\n]+)['"]/g)].map(([, name = '']) => name)
    const place = names.filter((name) => !/^\.{0,2}$/.test(name)).join('/')
    return place === '' || /^(?:\/|\.\.)/.test(place) ? [] : [place, join(dirname(path), place)]
  })
  if (places.length === 0) return 0
  return names.filter((name) =>
    ['.', 'src'].some(
      (own) =>
        isThere(join(own, `${name}.py`)) &&
        places.some((place) => join(place) !== own && isThere(join(place, `${name}.py`))),
    ),
  ).length
}

/** Mocks of the tested module, or other conditions in Bats, in what a test loads from beside it. */
function helperMocks(root: string, path: string, code: string): number {
  const textOf = (file: string): string => textInside(root, file, maxFileBytes) ?? ''
  if (path.endsWith('.bats'))
    return [...code.matchAll(/^[ \t]*(?:load|source|\.)[ \t]+["']?([\w./-]+)/gm)]
      .flatMap(([, place = '']) => [place, `${place}.bash`, `${place}.sh`])
      .filter((place) => otherConditions.test(textOf(join(dirname(path), place)))).length
  if (!scripts.test(path)) return 0
  const bare = [...code.matchAll(relativeModule)].map(([, place = '']) => join(dirname(path), place))
  const files = bare
    .flatMap((each) => [each, `${each}.ts`, `${each}.js`, `${each}.cjs`, `${each}.mjs`])
    .filter((each) => isInTests.test(each))
  return files.reduce((sum, each) => sum + ownMocks(path, textOf(each)), 0)
}

const otherConditions = /^[ \t]*(?:function[ \t]+)?(?:\[\[?|test|run)[ \t]*\(\)/m

/** The text of a module in the place of the tests that loads nothing of the project; null for any other. */
function helperText(root: string, path: string, place: string): string | null {
  const isPython = path.endsWith('.py')
  const bare = join(dirname(path), isPython ? place.replace(/^\.*/, '').replaceAll('.', '/') : place)
  const found = (isPython ? [`${bare}.py`] : [bare, `${bare}.ts`, `${bare}.js`]).find(
    (each) => !each.startsWith('..') && isInTests.test(each),
  )
  const text = found === undefined ? null : textInside(root, found, maxFileBytes)
  return text === null || (isPython ? /^[ \t]*(?:import|from)\b/m : /['"]\.{1,2}\//).test(text) ? null : text
}

const isInTests =
  /(?:^|\/)(?:__tests__|tests?|spec|helpers?|fixtures?|mocks?)\/|[._-](?:helpers?|mocks?)\.\w+$/

/** An import in JavaScript of anything else than Node and the libraries of tests. */
function loadsSubject(code: string): boolean {
  const places = code.matchAll(/\b(?:from|import|require)\s*\(?\s*['"]([^'"\n]+)/g)
  return places.some(([, place = '']) => !isLibraryOfTests(place))
}

/** Imports of `test` or `assert` from a module of the project that has no framework behind it. */
function ownFrameworks(code: string, isOwn: (place: string) => boolean): number {
  const imports = code.matchAll(/^import\b([^'";]{1,500})['"](\.[^'"\n]+)['"]/gm)
  return [...imports].filter(
    ([, names = '', place = '']) =>
      /\b(?:test|it|describe|expect|assert)\b(?! as).*\sfrom\s/s.test(names) && isOwn(place),
  ).length
}

const framework =
  /['"](?:node:)?(?:assert|test)(?:\/\w+)?['"]|vitest|jest|playwright|chai|mocha|ava\b|\btap\b|uvu|bun:test|cypress|\bthrow\b/

function isEmptyModule(root: string, path: string, place: string): boolean {
  const bare = join(dirname(path), place)
  const text = [bare, `${bare}.ts`, `${bare}.js`, `${bare}/index.ts`, `${bare}/index.js`]
    .map((each) => textInside(root, each, maxFileBytes))
    .find((each) => each !== null)
  return text != null && !framework.test(text)
}

/** What the assertions compare, without names: tests that were renamed, moved or put into a table still compare the same values. */
function checksIn(code: string, { assertions }: TestLanguage): Pick<TestFileFacts, 'checks' | 'values'> {
  const found = [...code.matchAll(assertions)]
  if (found.length > maxChecks) return {}
  const checks = found.map(({ index }) => {
    const [start = ''] = code.slice(index, index + maxLine).split('\n', 1)
    const line = start.replace(/[\s;)}\]]+$/, '')
    const shape = line.replaceAll(literalOrName, (word, literal) => (literal === undefined ? '_' : word))
    return `${markOf(shape.replaceAll(/\s+/g, ''))}${valuesIn(line)}`
  })
  const values = valuesIn(code)
  return values.length > maxValues ? {} : { checks, values }
}

const maxValues = 8_000
const maxChecks = 800
/** A packed file is one line. */
const maxLine = 300
const literalOrName =
  /((["'`])(?:\\.|(?!\2)[^\\\n]){0,300}\2|\b(?:\d[\w.]*|true|false|null|None|True|False|nil)\b)|[A-Za-z_$][\w$]*/g

function valuesIn(code: string): string {
  return [...code.matchAll(literalOrName)]
    .flatMap(([, literal]) => (literal === undefined ? [] : markOf(literal.replaceAll(/^["'`]|["'`]$/g, ''))))
    .join('')
}

function markOf(text: string): string {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0
  return `.${(sum >>> 0).toString(36).slice(-3)}`
}

/** Mocks that replace the module after which the test is named, as a whole: then nothing of it is tested. */
function ownMocks(path: string, code: string): number {
  const name = /([^/]+?)[._-](?:test|spec)\.[cm]?[jt]sx?$/.exec(path)?.[1]
  if (name === undefined || /\b(?:importActual|requireActual|importOriginal)\b/.test(code)) return 0
  const mocks = code.matchAll(
    /\b(?:(?:vi|jest)\.(?:mock|doMock|unstable_mockModule)|mock\.module)\(\s*['"`]([^'"`\n]+)|\brequire\.cache\[\s*require\.resolve\(\s*['"`]([^'"`\n]+)['"`]\s*\)\s*\]\s*=(?!=)/g,
  )
  return [...mocks].filter(([, module, cached = '']) =>
    (module ?? cached).replace(/\.[cm]?[jt]sx?$/, '').endsWith(`/${name}`),
  ).length
}

/** The names of the tests, and of those that a plain mark skips. */
function namesIn(code: string, { named }: TestLanguage): Pick<TestFileFacts, 'names' | 'off'> {
  const found = named === undefined ? [] : [...code.matchAll(named)].map(({ groups = {} }) => groups)
  const names = found.map(({ name = '' }) => name)
  const off = found.flatMap(({ name = '', off, start, empty }) =>
    off !== undefined || (start !== undefined && empty !== undefined) ? [name] : [],
  )
  return names.length === 0 ? {} : { names, ...(off.length > 0 && { off }) }
}
