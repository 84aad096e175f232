import type { TreeChange } from '../contract.ts'
import { globOf } from '../glob-of.ts'

/** What a change of a file can influence: documentation and comments cannot change what a test finds. */
export type ChangeKind = 'documentation' | 'comments' | 'code'

/**
 * Whether a path is documentation. A pattern without a slash matches a file name anywhere, with a slash a path in the project. A pattern
 * after `!` takes its files out again.
 */
export function documentationMatcher(patterns: readonly string[]): (path: string) => boolean {
  const matcher = (pattern: string): ((path: string) => boolean) => {
    const glob = globOf(pattern)
    if (glob === null) return () => false
    return pattern.includes('/') ? glob : (path) => glob(path.slice(path.lastIndexOf('/') + 1))
  }
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(matcher)
  const taken = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => matcher(pattern.slice(1)))
  return (path) => wanted.some((matches) => matches(path)) && !taken.some((matches) => matches(path))
}

interface CommentSyntax {
  readonly line: string | null
  /** `/* … *\/`, when it begins a line. */
  readonly block: boolean
  /** Text of the language in which a comment mark may be ordinary content. */
  readonly unclear: RegExp
  /** A line may begin a text of several lines with three quotes. */
  readonly texts?: true
}

const slashes: CommentSyntax = { line: '//', block: true, unclear: /`|"""/ }
const hashes: CommentSyntax = { line: '#', block: false, unclear: /"""|'''|<</ }

const syntaxes: readonly (readonly [RegExp, CommentSyntax])[] = [
  [/\.(?:[cm]?[jt]sx?|java|go|rs|kts?|swift|scala|dart|cs|c|cc|cpp|cxx|h|hpp|proto|zig)$/, slashes],
  [/\.(?:css|scss|less)$/, { ...slashes, line: null }],
  [/\.pyi?$/, { ...hashes, texts: true }],
  [/\.(?:rb|sh|bash|zsh|pl|ex|exs|toml|tf|jl|mk|cfg)$|(?:^|\/)(?:Makefile|GNUmakefile|Dockerfile)$/, hashes],
  [/\.ya?ml$/, { ...hashes, unclear: /[|>][-+\d]*\s*$/m }],
  [/\.(?:sql|lua)$/, { line: '--', block: false, unclear: /\[\[|\$\$|'''/ }],
]

/** Comments that programs read: pragmas, suppressed warnings, build tags, tests in documentation. */
const directive =
  /@|^#!|go:|\+build|noqa|nolint|eslint|tslint|biome|prettier|stylelint|pragma|type:\s*ignore|mypy|pyright|pylint|ruff|flake8|bandit|nosec|nosonar|istanbul|\bc8\b|\bv8\b|webpack|vite|coverage|no cover|rustfmt|clippy|shellcheck|rubocop|frozen_string|coding[:=]|fmt:|isort|yapf|region|Output:|sourceMapp|jsx|ts-|>>>|```|syntax=|escape=|yaml-language-server|nocheck|swiftlint|ktlint|checkstyle|spotless|ignore/i

/** Whether two versions of a file differ only in comments and blank lines. Cautious: what is unclear counts as code. */
export function onlyCommentsChanged(path: string, before: string, after: string): boolean {
  const [old, fresh] = [before, after].map((text) => withoutVersion(path, text))
  if (old !== null && old === fresh) return true
  const syntax = syntaxes.find(([files]) => files.test(path))?.[1]
  if (syntax === undefined) return false
  const [was, is] = [splitComments(before, syntax), splitComments(after, syntax)]
  if (was === null || is === null || was.code !== is.code) return false
  const changed = [
    ...was.comments.filter((text) => !is.comments.includes(text)),
    ...is.comments.filter((text) => !was.comments.includes(text)),
  ]
  // Comments of Rust that document an item contain tests.
  return !changed.some(
    (text) =>
      directive.test(withoutTags(text, path)) ||
      continued.test(text) ||
      (path.endsWith('.rs') && /^\/\/[/!]/.test(text)),
  )
}

/** The manifest of a package, or its lock file, without the package's own version. */
function withoutVersion(path: string, text: string): string | null {
  if (/(?:^|\/)package(?:-lock)?\.json$/.test(path))
    return text.replaceAll(
      /^([ \t]{1,4}|[ \t]+"": \{(?:\s+"name": "[^"]*",)?\s+)"version": "[\w.+-]+"/gm,
      '$1',
    )
  if (!/(?:^|\/)(?:pyproject|Cargo)\.toml$/.test(path)) return null
  return text.replace(/^(\[(?:project|package|tool\.poetry)\](?:\n(?!\[).*)*?\nversion = )"[\w.+-]+"/m, '$1')
}

/** Tags that describe. In JavaScript, the types in them may be checked. */
function withoutTags(text: string, path: string): string {
  const isTyped = /\.[cm]?tsx?$/.test(path)
  if (!isTyped && (!/\.[cm]?jsx?$/.test(path) || /\{/.test(text))) return text
  return text.replaceAll(
    /@(?:param|returns?|throws|example|deprecated|see|since|author|remarks|summary|description|default)\b/g,
    '',
  )
}

/** The next line belongs to it. */
const continued = /(?:\\|\?\?\/)\s*$/

/** A text in backticks that begins and ends in the line: the tag of a field in Go. */
const onOneLine = /(?<=^(?:[^"'`]|`[^`$]*`)*)`[^`$]*`/g
/** In a longer line, such as one of a packed file, they take long to find. */
const maxTagged = 1_000

function splitComments(text: string, { line: mark, block, unclear, texts }: CommentSyntax) {
  const code: string[] = []
  const comments: string[] = []
  let inBlock = false
  /** The end of the text that a line began, such as the documentation of a function in Python. */
  let inText: string | null = null
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim()
    const quotes: string | null = inText ?? (texts ? (/^[rRuU]?("""|''')/.exec(trimmed)?.[1] ?? null) : null)
    if (quotes !== null) {
      if (continued.test(code.at(-1) ?? '') && inText === null) return null
      const own: string = inText === null ? trimmed.replace(/^\w?.../, '') : trimmed
      const end = own.indexOf(quotes)
      if (end !== -1 && (end + 3 < own.length || own[end - 1] === '\\')) return null
      inText = end === -1 ? quotes : null
      code.push(line)
      continue
    }
    if (trimmed === '') continue
    if (inBlock || (block && trimmed.startsWith('/*'))) {
      comments.push(trimmed)
      const end = trimmed.indexOf('*/', inBlock ? 0 : 2)
      inBlock = end === -1
      if (end !== -1 && end + 2 < trimmed.length) return null
      continue
    }
    if (mark !== null && trimmed.startsWith(mark)) {
      if (continued.test(code.at(-1) ?? '')) return null
      comments.push(trimmed)
      continue
    }
    const at = mark === null ? -1 : line.indexOf(mark)
    const start = at === -1 ? line : line.slice(0, at)
    // After a quote, a mark may be part of a text.
    const isCut = at !== -1 && /\s$/.test(start) && !/["'`/]/.test(start)
    const kept = isCut ? start.trimEnd() : line.trimEnd()
    if (isCut) comments.push(line.slice(at))
    if (
      unclear.test(kept.length < maxTagged ? kept.replaceAll(onOneLine, '') : kept) ||
      (kept.replaceAll(/\\./g, '').split('"').length - 1) % 2 === 1
    )
      return null
    code.push(kept)
  }
  return inBlock || inText !== null ? null : { code: code.join('\n'), comments }
}

/** A package of a monorepo. */
export interface ProjectPackage {
  /** Relative to the root, without a slash at the end. Never the root itself. */
  readonly directory: string
  /** By its manifest; null when it has none. */
  readonly name: string | null
  /** Text of its manifest, which names the packages it depends on. */
  readonly manifest: string
}

const manifests =
  /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|composer\.json|mix\.exs|[^/]+\.csproj)$/

/** The manifests of packages below the root, among these paths. */
export function manifestPaths(paths: readonly string[]): readonly string[] {
  return paths.filter(
    (path) => path.includes('/') && manifests.test(path) && !/(?:^|\/)node_modules\//.test(path),
  )
}

/** A quick check of a record of a tree. */
export function mayBeManifest(record: string): boolean {
  return manifests.test(record)
}

export function packageNameIn(manifest: string): string | null {
  return (
    /"name"\s*:\s*"([^"]+)"/.exec(manifest)?.[1] ??
    /^[ \t]*name\s*=\s*["']([^"']+)["']/m.exec(manifest)?.[1] ??
    /^module\s+(\S+)/m.exec(manifest)?.[1] ??
    null
  )
}

/** Directories of the packages that a command checks; null when it may check everything. */
export function packagesChecked(
  command: string,
  packages: readonly ProjectPackage[],
): readonly ProjectPackage[] | null {
  const found = new Set<ProjectPackage>()
  let base = ''
  for (const part of command.split(/&&|;/)) {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll(/["']/g, ''))
    if (words[0] === 'cd') {
      base = plainPath(`${base}/${words[1] ?? ''}`)
      continue
    }
    const own = packageOf(base, packages)
    const named = own === null ? packagesNamed(words, packages) : [own]
    if (named.length === 0) return null
    for (const each of named) found.add(each)
  }
  return found.size === 0 ? null : [...found]
}

function packagesNamed(
  words: readonly string[],
  packages: readonly ProjectPackage[],
): readonly ProjectPackage[] {
  return words.slice(1).flatMap((word) => {
    const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word
    if (value.startsWith('-')) return []
    const path = plainPath(value)
    const byPath = path.includes('..') ? null : packageOf(path, packages)
    const found = byPath ?? packages.find(({ name }) => name === value)
    return found === undefined ? [] : [found]
  })
}

/** The innermost package that contains a path; null when it belongs to the root. */
export function packageOf(path: string, packages: readonly ProjectPackage[]): ProjectPackage | null {
  const containing = packages.filter(({ directory }) => `${path}/`.startsWith(`${directory}/`))
  return containing.toSorted((a, b) => b.directory.length - a.directory.length)[0] ?? null
}

/** Whether a change of this file can influence a check of this package: its own, shared, or of a package that it depends on. */
export function canInfluence(
  path: string,
  checked: ProjectPackage,
  packages: readonly ProjectPackage[],
): boolean {
  const owner = packageOf(path, packages)
  if (owner === null || isAround(owner, checked) || isAround(checked, owner)) return true
  const reached = new Set([checked])
  for (const each of reached) {
    if (each === owner) return true
    for (const other of packages) if (mentions(each, other)) reached.add(other)
  }
  return reached.has(owner)
}

function isAround(outer: ProjectPackage, inner: ProjectPackage): boolean {
  return `${inner.directory}/`.startsWith(`${outer.directory}/`)
}

function mentions({ manifest }: ProjectPackage, { name, directory }: ProjectPackage): boolean {
  const last = directory.slice(directory.lastIndexOf('/') + 1)
  return [name ?? last, last].some((text) => {
    const at = manifest.indexOf(text)
    return at !== -1 && new RegExp(`(?<![\\w-])${RegExp.escape(text)}(?![\\w-])`).test(manifest)
  })
}

function plainPath(path: string): string {
  return path
    .replace(/\/?\.\.\.$/, '')
    .split('/')
    .filter((step) => step !== '' && step !== '.')
    .join('/')
}

/** `"src/a.ts"`, `"src/a.ts" and 2 more files`. */
export function namedFiles({ files, total }: TreeChange, max = 3): string {
  const names = files.slice(0, max).map((path) => JSON.stringify(path))
  const more = total - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more ${more === 1 ? 'file' : 'files'}` : ''}`
}
