import { posix } from 'node:path'
import { looksLikeTest } from '../../guard-engine/tests/test-files.ts'
import { readTextInside } from '../../io/files.ts'

/** How the files of a repository are written, as far as a sample tells. Sentences for a prompt. */
export interface Conventions {
  readonly style: readonly string[]
  /** How test files are named and by what they are run; null when the repository has none. */
  readonly tests: { readonly naming: string | null; readonly framework: string | null }
  /** The files it was concluded from. */
  readonly sampled: readonly string[]
}

const maxFiles = 12
const maxFileBytes = 64 * 1024
const sourceFile =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|c|cc|cpp|h|hpp|php|swift|scala|ex|exs|lua|sh|vue|svelte)$/

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
    focus.includes(path) ? 0 : near.has(posix.dirname(path)) ? 1 : looksLikeTest(path) ? 3 : 2
  const chosen = [...sources]
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0))
    .slice(0, maxFiles)
  const texts = chosen.flatMap((path) => {
    const read = readTextInside(root, path, { maxBytes: maxFileBytes })
    return read.kind === 'text' ? [{ path, text: read.text }] : []
  })
  const tests = sources.filter(looksLikeTest)
  const style = [
    indentation(texts),
    quotes(texts),
    semicolons(texts),
    identifiers(texts),
    fileNames(sources.filter((path) => !looksLikeTest(path))),
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

/** The name of the larger count; null when both are small or too close to say. */
function prevailing(counts: Readonly<Record<string, number>>, least = 3): string | null {
  const [first, second] = Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  if (first === undefined || first[1] < least) return null
  return first[1] >= 2 * (second?.[1] ?? 0) ? first[0] : null
}

function indentation(samples: readonly Sample[]): string | null {
  const counts: Record<string, number> = {}
  for (const { text } of samples) {
    const steps: Record<string, number> = {}
    let before = 0
    for (const line of text.split('\n')) {
      if (line.trim() === '' || /^\s+\*/.test(line)) continue
      const [lead = ''] = /^[\t ]*/.exec(line) ?? []
      if (lead.startsWith('\t')) steps.tabs = (steps.tabs ?? 0) + 1
      else if (lead.length > before) {
        const name = `${lead.length - before} spaces`
        steps[name] = (steps[name] ?? 0) + 1
      }
      before = lead.length
    }
    const own = prevailing(steps, 1)
    if (own !== null) counts[own] = (counts[own] ?? 0) + 1
  }
  const found = prevailing(counts, 1)
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

function identifiers(samples: readonly Sample[]): string | null {
  const counts = { camelCase: 0, snake_case: 0 }
  for (const { text } of samples)
    for (const [, name = ''] of text.matchAll(
      /\b(?:function|def|fn|func|const|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)/g,
    )) {
      if (/^[a-z]+(?:[A-Z][a-z0-9]*)+$/.test(name)) counts.camelCase += 1
      else if (/^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(name)) counts.snake_case += 1
    }
  const found = prevailing(counts)
  return found === null ? null : `Names of functions and variables: ${found}.`
}

function fileNames(paths: readonly string[]): string | null {
  const counts: Record<string, number> = {}
  for (const path of paths) {
    const [stem = ''] = posix.basename(path).split('.')
    const kind = /^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(stem)
      ? 'kebab-case'
      : /^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(stem)
        ? 'snake_case'
        : /^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)*$/.test(stem)
          ? 'PascalCase'
          : /^[a-z0-9]+(?:[A-Z][a-z0-9]*)+$/.test(stem)
            ? 'camelCase'
            : null
    if (kind !== null) counts[kind] = (counts[kind] ?? 0) + 1
  }
  const found = prevailing(counts)
  return found === null ? null : `File names: ${found}.`
}

function lineEnds(samples: readonly Sample[]): string | null {
  const crlf = samples.filter(({ text }) => text.includes('\r\n')).length
  return crlf * 2 > samples.length ? 'Lines end with CR LF.' : null
}

function testNaming(tests: readonly string[]): string | null {
  const counts: Record<string, number> = {}
  for (const path of tests) {
    const base = posix.basename(path)
    const extension = /\.[^.]+$/.exec(base)?.[0] ?? ''
    const shape = /\.(?:test|spec|cy|e2e)\.[^.]+$/.exec(base)?.[0]
    const name =
      shape !== undefined
        ? `*${shape}`
        : /^test_/.test(base)
          ? `test_*${extension}`
          : (/_(?:test|spec|tests)\.[^.]+$/.exec(base)?.[0].replace(/^/, '*') ?? `*${extension}`)
    const place = posix.dirname(path)
    const dir = /(?:^|\/)(__tests__|tests?|spec)(?:\/|$)/.exec(place)?.[1]
    const key = dir === undefined ? `${name} beside the source` : `${name} in ${dir}/`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return prevailing(counts, 1)
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

/** By what tests of this repository are run, or would be, from its package files; null when they do not tell. */
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
  const read = readTextInside(root, path, { maxBytes: 1024 * 1024 })
  if (read.kind !== 'text') return null
  const script = /"test"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(read.text)?.[1] ?? ''
  if (/\bnode\b.*--test\b/.test(script)) return 'node:test'
  return (
    fromPackages.find((name) => new RegExp(`\\b${name.replace('/', '\\/')}\\b`).test(script)) ??
    fromPackages.find((name) => read.text.includes(`"${name}"`)) ??
    null
  )
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
}
