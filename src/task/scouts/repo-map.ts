import { outline } from './outline.ts'
import { rankFiles } from './rank-files.ts'
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
