import { posix } from 'node:path'
import { captures } from '../../core/captures.ts'
import { isTestFile } from '../../guard-engine/tests/test-files.ts'
import { textInside } from '../../io/read-text-inside.ts'

/** Conventions found in a sample of files, as sentences for a prompt. */
export interface Conventions {
  readonly style: readonly string[]
  /** How test files are named and which framework runs them; null when the repository has none. */
  readonly tests: { readonly naming: string | null; readonly framework: string | null }
  /** The sampled files. */
  readonly sampled: readonly string[]
}

const maxFiles = 12
const maxFileBytes = 64 * 1024
const sourceFile =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|c|cc|cpp|h|hpp|php|swift|scala|ex|exs|lua|sh|vue|svelte|pl|pm|t)$/

export function isSource(path: string): boolean {
  return sourceFile.test(path)
}

/** Deterministic: the same files give the same answer. `focus` first, then their neighbours, then the rest in order. */
export function sampleConventions(
  root: string,
  files: readonly string[],
  focus: readonly string[],
): Conventions {
  const sources = files.filter(isSource)
  const near = new Set(focus.map((path) => posix.dirname(path)))
  const rank = (path: string): number =>
    focus.includes(path) ? 0 : near.has(posix.dirname(path)) ? 1 : isTestFile(path) ? 3 : 2
  const chosen = [...sources]
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0))
    .slice(0, maxFiles)
  const texts = chosen.flatMap((path) => {
    const text = textInside(root, path, maxFileBytes)
    return text === null ? [] : [{ path, text }]
  })
  const tests = sources.filter(isTestFile)
  const style = [
    indentation(texts),
    quotes(texts),
    semicolons(texts),
    identifiers(texts),
    fileNames(sources.filter((path) => !isTestFile(path))),
    lineEnds(texts),
  ].filter((line) => line !== null)
  return {
    style,
    tests: { naming: testNaming(tests), framework: inferTestFramework(root, files) },
    sampled: texts.map(({ path }) => path),
  }
}

interface Sample {
  readonly path: string
  readonly text: string
}

/** The name with the larger count; null when both are small or too close. */
function prevailing(counts: Readonly<Record<string, number>>, least = 3): string | null {
  const [first, second] = Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  if (first === undefined || first[1] < least) return null
  return first[1] >= 2 * (second?.[1] ?? 0) ? first[0] : null
}

/** How often each name occurs; null is not a name. */
function tally(names: readonly (string | null)[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of names) if (name !== null) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function indentation(samples: readonly Sample[]): string | null {
  const stepOf = (text: string): string | null => {
    let before = 0
    const steps = text.split('\n').map((line) => {
      if (line.trim() === '' || /^\s+\*/.test(line)) return null
      const [lead = ''] = /^[\t ]*/.exec(line) ?? []
      const deeper = lead.length - before
      before = lead.length
      if (lead.startsWith('\t')) return 'tabs'
      return deeper > 0 ? `${deeper} spaces` : null
    })
    return prevailing(tally(steps), 1)
  }
  const found = prevailing(tally(samples.map(({ text }) => stepOf(text))), 1)
  return found === null ? null : `Indentation: ${found}.`
}

function quotes(samples: readonly Sample[]): string | null {
  const texts = samples.filter(({ path }) => /\.(?:[cm]?[jt]sx?|py|rb|php|vue|svelte)$/.test(path))
  const count = (pattern: RegExp): number =>
    texts.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
  const found = prevailing({
    single: count(/(?<![\w\\])'[^'\n"]*'/g),
    double: count(/(?<![\w\\])"[^"\n']*"/g),
  })
  return found === null ? null : `Strings: ${found} quotes.`
}

function semicolons(samples: readonly Sample[]): string | null {
  const lines = samples
    .filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path))
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.trimEnd())
    .filter((line) => /^\s*(?:import|export|const|let|return|throw)\b/.test(line) && !/[{([,]$/.test(line))
  const ended = lines.filter((line) => line.endsWith(';')).length
  const found = prevailing({ with: ended, without: lines.length - ended })
  return found === null ? null : `Statements end ${found} semicolons.`
}

const nameStyles: readonly (readonly [string, RegExp])[] = [
  ['kebab-case', /^[a-z0-9]+(?:-[a-z0-9]+)+$/],
  ['snake_case', /^[a-z0-9]+(?:_[a-z0-9]+)+$/],
  ['PascalCase', /^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)*$/],
  ['camelCase', /^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$/],
]

function styleOf(name: string): string | null {
  return nameStyles.find(([, pattern]) => pattern.test(name))?.[0] ?? null
}

function identifiers(samples: readonly Sample[]): string | null {
  const declared = /\b(?:function|def|fn|func|const|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)/g
  const names = samples.flatMap(({ text }) => captures(text, declared))
  const { camelCase = 0, snake_case = 0 } = tally(names.map(styleOf))
  const found = prevailing({ camelCase, snake_case })
  return found === null ? null : `Names of functions and variables: ${found}.`
}

function fileNames(paths: readonly string[]): string | null {
  const found = prevailing(tally(paths.map((path) => styleOf(posix.basename(path).split('.')[0] ?? ''))))
  return found === null ? null : `File names: ${found}.`
}

function lineEnds(samples: readonly Sample[]): string | null {
  const crlf = samples.filter(({ text }) => text.includes('\r\n')).length
  return crlf * 2 > samples.length ? 'Lines end with CR LF.' : null
}

function testNaming(tests: readonly string[]): string | null {
  const names = tests.map((path) => {
    const base = posix.basename(path)
    const extension = /\.[^.]+$/.exec(base)?.[0] ?? ''
    const shape = /\.(?:test|spec|cy|e2e)\.[^.]+$/.exec(base)?.[0]
    const suffix = /_(?:test|spec|tests)\.[^.]+$/.exec(base)?.[0] ?? extension
    const name =
      shape === undefined && base.startsWith('test_') ? `test_*${extension}` : `*${shape ?? suffix}`
    const dir = /(?:^|\/)(__tests__|tests?|spec)(?:\/|$)/.exec(posix.dirname(path))?.[1]
    return dir === undefined ? `${name} beside the source` : `${name} in ${dir}/`
  })
  return prevailing(tally(names), 1)
}

const fromPackages = ['vitest', 'jest', 'mocha', 'ava', 'jasmine', '@playwright/test'] as const

const fromFiles: readonly (readonly [RegExp, string])[] = [
  [/^(?:pytest\.ini|conftest\.py|tox\.ini)$/, 'pytest'],
  [/^go\.mod$/, 'go test'],
  [/^Cargo\.toml$/, 'cargo test'],
  [/^(?:pom\.xml|build\.gradle(?:\.kts)?)$/, 'junit'],
  [/^(?:pyproject\.toml|setup\.py|setup\.cfg|requirements(?:-dev)?\.txt)$/, 'pytest'],
  [/^mix\.exs$/, 'ExUnit'],
  [/^Gemfile$/, 'rspec'],
  [/^package\.json$/, 'node:test'],
]

/** The test framework according to the package files; null when they name none. */
function inferTestFramework(root: string, files: readonly string[]): string | null {
  const manifests = files.filter((path) => posix.basename(path) === 'package.json').sort(byDepth)
  for (const path of manifests) {
    const named = frameworkIn(root, path)
    if (named !== null) return named
  }
  const names = new Set([...files].sort(byDepth).map((path) => posix.basename(path)))
  return fromFiles.find(([pattern]) => [...names].some((name) => pattern.test(name)))?.[1] ?? null
}

function frameworkIn(root: string, path: string): string | null {
  const text = textInside(root, path, 1024 * 1024)
  if (text === null) return null
  const script = /"test"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? ''
  if (/\bnode\b.*--test\b/.test(script)) return 'node:test'
  return (
    fromPackages.find((name) => new RegExp(`\\b${name.replace('/', '\\/')}\\b`).test(script)) ??
    fromPackages.find((name) => text.includes(`"${name}"`)) ??
    null
  )
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
}
