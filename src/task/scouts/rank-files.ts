import { outline } from './outline.ts'
import type { SourceTree } from './source-tree.ts'

export interface RankedFile {
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
