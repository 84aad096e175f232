import { extname } from 'node:path/posix'
import type { SourceTree } from './source-tree.ts'

export interface MapOptions {
  readonly question: string
  readonly focus?: readonly string[]
  /** Maximum size in tokens, at about four characters each. */
  readonly maxTokens: number
}

const charsPerToken = 4
/** Shares of the budget: names, then definitions, then full text of the most relevant files. */
const nameShare = 0.15
const outlineShare = 0.25
const maxFileShare = 0.25

/**
 * What a Scout sees of a repository: as many file names as fit, the definitions of relevant files with their lines, and the numbered
 * text of the most relevant ones. The same tree and question always give the same map.
 */
export function repoMap(tree: SourceTree, { question, focus = [], maxTokens }: MapOptions): string {
  const budget = maxTokens * charsPerToken
  const ranked = rankFiles(tree, question, focus).map(({ path }) => path)
  const names = fill(budget * nameShare, ranked.toSorted(), (path) => `${path}${lines(tree, path)}`)
  const hidden = tree.paths.length + tree.omitted - names.count
  const outlines = fill(budget * outlineShare, ranked, (path) => outlineText(tree, path))
  const left = budget - names.text.length - outlines.text.length
  const texts = fill(left, ranked, (path) => numbered(tree, path, budget * maxFileShare))
  return [
    `FILES (${tree.paths.length + tree.omitted}${hidden > 0 ? `, ${hidden} not shown` : ''}):\n${names.text}`,
    `DEFINITIONS (line: definition), most relevant files first:\n${outlines.text || '(none found)'}`,
    `TEXTS with line numbers, most relevant files first:\n${texts.text || '(no text files)'}`,
  ].join('\n\n')
}

/** As many entries as fit. Skips entries that are too long. */
function fill(maxChars: number, paths: readonly string[], textOf: (path: string) => string | null) {
  const parts: string[] = []
  let used = 0
  for (const path of paths) {
    if (maxChars - used < 20) break
    const text = textOf(path)
    if (text === null || used + text.length + 1 > maxChars) continue
    parts.push(text)
    used += text.length + 1
  }
  return { text: parts.join('\n'), count: parts.length }
}

function lines(tree: SourceTree, path: string): string {
  const count = tree.lineCount(path)
  return count === null ? '' : ` (${count})`
}

function outlineText(tree: SourceTree, path: string): string | null {
  const text = tree.text(path)
  if (text === null) return null
  const definitions = outline(path, text)
  if (definitions.length === 0) return null
  return `${path}\n${definitions.map((definition) => `  ${definition.line}: ${definition.text}`).join('\n')}`
}

function numbered(tree: SourceTree, path: string, maxChars: number): string | null {
  const text = tree.text(path)
  if (text === null || text === '') return null
  const rows: string[] = []
  let used = path.length + 8
  for (const [index, line] of text.replace(/\n$/, '').split('\n').entries()) {
    const row = `${index + 1}| ${line.slice(0, 500)}`
    if (used + row.length + 1 > maxChars) {
      rows.push('… (cut)')
      break
    }
    rows.push(row)
    used += row.length + 1
  }
  return `--- ${path}\n${rows.join('\n')}`
}

const common = new Set(
  `the and for with that this from into when then must should not are was add fix use new test tests file files code make all any
  bug error update change implement refactor function method class which what where does have has can will its only also`.split(
    /\s+/,
  ),
)
const maxContent = 200_000

/**
 * Files by relevance to a question: those it names, those that define one of its words, those that contain one, then entry points and
 * files near the top. The same question always gives the same order.
 */
export function rankFiles(tree: SourceTree, question: string, focus: readonly string[] = []) {
  const words = wordsOf(question)
  const focused = new Set(focus)
  const ranked = tree.paths.map((path) => ({ path, score: scoreOf(tree, path, words, question, focused) }))
  return ranked.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
}

function scoreOf(
  tree: SourceTree,
  path: string,
  words: readonly string[],
  question: string,
  focused: ReadonlySet<string>,
): number {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const lower = path.toLowerCase()
  let score = focused.has(path) ? 200 : 0
  if (question.includes(path)) score += 150
  else if (name.length > 3 && question.includes(name)) score += 100
  score += 10 * words.filter((word) => lower.includes(word)).length
  if (/^(?:index|main|app|cli|server|mod|lib|__init__|__main__)\.[a-z]+$/i.test(name)) score += 4
  if (/^readme\.[a-z]+$|^package\.json$|^pyproject\.toml$|^makefile$|^cargo\.toml$|^go\.mod$/i.test(name))
    score += 4
  score -= path.split('/').length
  const text = words.length === 0 ? null : tree.text(path)
  if (text === null) return score
  const content = text.slice(0, maxContent).toLowerCase()
  score += 2 * words.filter((word) => content.includes(word)).length
  const defined = outline(path, text).map(({ name: symbol }) => symbol.toLowerCase())
  score += 8 * words.filter((word) => defined.some((symbol) => symbol.includes(word))).length
  return score
}

/** Distinctive words of the question, including parts of camelCase and snake_case words. */
function wordsOf(question: string): readonly string[] {
  const words = question.match(/[A-Za-z_][A-Za-z0-9_]{2,}/g) ?? []
  const parts = words.flatMap((word) => [word, ...word.split(/_|(?<=[a-z0-9])(?=[A-Z])/)])
  const wanted = parts
    .map((part) => part.toLowerCase())
    .filter((part) => part.length > 2 && !common.has(part))
  return [...new Set(wanted)].slice(0, 40)
}

/** A definition in a file, with its line number from 1. */
interface Definition {
  readonly name: string
  readonly line: number
  /** The line itself, shortened. */
  readonly text: string
}

const maxPerFile = 40
const maxChars = 120

const javascript =
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|const|let|var)\s+([A-Za-z_$][\w$]*)/
const python = /^(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)|^\s{4}(?:async\s+)?def\s+([A-Za-z_]\w*)/
const c =
  /^(?!\s|return\b|else\b|if\b|for\b|while\b|switch\b|#)[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\([^;]*$|^(?:typedef\s+)?(?:struct|enum|union)\s+([A-Za-z_]\w*)|^#define\s+([A-Za-z_]\w*)/
const go = /^func\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)|^type\s+([A-Za-z_]\w*)/
const rust =
  /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|mod|type|const|static)\s+([A-Za-z_]\w*)/
const java =
  /^\s*(?:public|protected|private|static|final|abstract|\s)*(?:class|interface|enum|record)\s+([A-Za-z_]\w*)|^\s+(?:public|protected|private)[\w<>[\],\s]*?\s([A-Za-z_]\w*)\s*\(/
const ruby = /^\s*(?:def|class|module)\s+([A-Za-z_][\w.?!]*)/
const shell = /^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{/

/** By extension. Files in other languages have no outline, and their first lines are shown. */
const languages: Readonly<Record<string, RegExp>> = {
  ...entries('js jsx mjs cjs ts tsx mts cts', javascript),
  ...entries('py pyi', python),
  ...entries('c h cc cpp cxx hpp hh', c),
  ...entries('go', go),
  ...entries('rs', rust),
  ...entries('java kt cs', java),
  ...entries('rb', ruby),
  ...entries('sh bash', shell),
}

function entries(extensions: string, pattern: RegExp): Record<string, RegExp> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, pattern]))
}

/** The definitions of a source file, found line by line without a parser, so every language works the same way and cannot fail. */
export function outline(path: string, text: string): readonly Definition[] {
  const pattern = languages[extname(path).slice(1).toLowerCase()]
  if (pattern === undefined) return []
  const found: Definition[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.length > 2_000) continue
    const match = pattern.exec(line)
    const name = match?.slice(1).find((group) => group !== undefined)
    if (name === undefined) continue
    found.push({ name, line: index + 1, text: line.trim().slice(0, maxChars) })
    if (found.length === maxPerFile) break
  }
  return found
}
