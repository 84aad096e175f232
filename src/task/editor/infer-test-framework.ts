import { posix } from 'node:path'
import { readTextInside } from '../../io/files.ts'

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
export function inferTestFramework(root: string, files: readonly string[]): string | null {
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
