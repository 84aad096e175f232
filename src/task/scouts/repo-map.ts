import { outline } from './outline.ts'
import type { SourceTree } from './source-tree.ts'

export interface MapOptions {
  readonly question: string
  readonly focus?: readonly string[]
  /** Tokens the map may take, at about four characters each. */
  readonly maxTokens: number
}

const charsPerToken = 4
/** Of the budget: names first, then what files define, then whole texts of those that matter most. */
const nameShare = 0.15
const outlineShare = 0.25
const maxFileShare = 0.25

/**
 * What a Scout sees of a repository: every name as far as they fit, the definitions of the files that matter with their lines, and
 * the numbered text of those that matter most. Made by code alone, so that the same tree and question give the same map.
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

interface Filled {
  readonly text: string
  readonly count: number
}

/** As many entries as fit. One that is too long is left out, and shorter ones after it may still fit. */
function fill(maxChars: number, paths: readonly string[], textOf: (path: string) => string | null): Filled {
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

interface RankedFile {
  readonly path: string
  readonly score: number
}

const common = new Set(
  `the and for with that this from into when then must should not are was add fix use new test tests file files code make all any
  bug error update change implement refactor function method class which what where does have has can will its only also`.split(
    /\s+/,
  ),
)
const maxContent = 200_000

/**
 * Files in the order in which they may matter to a question: those named in it, those that define a word of it, those that contain
 * it, then entry points and what stands near the top. Counted, never guessed: the same question gives the same order.
 */
export function rankFiles(
  tree: SourceTree,
  question: string,
  focus: readonly string[] = [],
): readonly RankedFile[] {
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

/** Words of the question that tell files apart; parts of camelCase and snake_case count too. */
function wordsOf(question: string): readonly string[] {
  const words = question.match(/[A-Za-z_][A-Za-z0-9_]{2,}/g) ?? []
  const parts = words.flatMap((word) => [word, ...word.split(/_|(?<=[a-z0-9])(?=[A-Z])/)])
  const wanted = parts
    .map((part) => part.toLowerCase())
    .filter((part) => part.length > 2 && !common.has(part))
  return [...new Set(wanted)].slice(0, 40)
}
