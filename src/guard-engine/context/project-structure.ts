import type { ProjectFacts } from '../contract.ts'
import { printable } from '../printable.ts'
import { block, fenced } from './block.ts'

const maxLength = 2700
const maxLineLength = 160
/** For the heading, the fence and the sentence below it. */
const frame = 260

/** The tree as paths. Where not all fit, the upper levels stay. */
export function projectStructure(project: ProjectFacts, depth: number): string {
  const lines = project.entries.map((entry) => printable(entry, maxLineLength))
  const shown = upperLevels(lines, maxLength - frame)
  const omitted = (project.omitted ?? 0) + (lines.length - shown.length)
  const more =
    omitted > 0
      ? [`${omitted} more entries to a depth of ${depth} are not listed.`]
      : project.truncated
        ? ['There are more entries; they were not counted.']
        : []
  const listed = lines.length === 0 ? ['The project has no files yet.'] : [...fenced(shown), ...more]
  return block('Project Structure', listed, maxLength)
}

function upperLevels(lines: readonly string[], room: number): readonly string[] {
  const byLevel = lines
    .map((line, index) => ({ line, index, level: line.replace(/\/$/, '').split('/').length }))
    .sort((a, b) => a.level - b.level || a.index - b.index)
  let left = room
  const end = byLevel.findIndex(({ line }) => {
    left -= line.length + 1
    return left < 0
  })
  const kept = end === -1 ? byLevel : byLevel.slice(0, end)
  return kept.sort((a, b) => a.index - b.index).map(({ line }) => line)
}
