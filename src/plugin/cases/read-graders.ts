import { GantryError } from '../../core/error.ts'
import { entryKind } from '../../io/entry-kind.ts'
import { fileProblem, parseYaml } from '../../io/yaml.ts'
import type { Grader } from '../generate/contract.ts'
import { type CaseProblem, problem, problemOf } from './case-problem.ts'
import { writtenGraderSchema } from './grader-schema.ts'
import { listPlain } from './list-plain.ts'
import { readCaseText } from './read-case-text.ts'
import { splitFrontmatter } from './split-frontmatter.ts'
import { toGrader } from './to-grader.ts'

export interface ReadGraders {
  readonly graders: readonly Grader[]
  readonly problems: readonly CaseProblem[]
}

/** The graders of a case that have files of their own, by name. Directories and other files beside them are none. */
export function readGraders(caseDir: string): ReadGraders {
  const dir = `${caseDir}/graders`
  if (entryKind(dir) !== 'directory') return { graders: [], problems: [] }
  const graders: Grader[] = []
  const listing = listPlain(dir)
  const problems: CaseProblem[] = [...listing.problems]
  for (const file of listing.files.filter((name) => name.endsWith('.md'))) {
    const path = `${dir}/${file}`
    try {
      const grader = readGrader(dir, file)
      if (grader === null) problems.push(problem('warning', path, 'has no frontmatter, so it is no grader'))
      else graders.push(grader)
    } catch (error) {
      problems.push(problemOf(error, path))
    }
  }
  return { graders, problems }
}

/** null when the file says nothing about a type. */
function readGrader(dir: string, file: string): Grader | null {
  const path = `${dir}/${file}`
  const split = splitFrontmatter(readCaseText(dir, file) ?? '')
  if (split.kind === 'plain') return null
  if (split.kind === 'unterminated') throw unterminated(path)
  const source = parseYaml(split.yaml, path, writtenGraderSchema)
  const made = toGrader(source.value, source.value.name ?? file.slice(0, -'.md'.length), split.body)
  if (made.kind === 'grader') return made.grader
  const [fault] = made.faults
  if (fault === undefined) return null
  // What is not among the keys stands in the text below them.
  if (Object.hasOwn(source.value, fault.key))
    throw fileProblem(source, [fault.key], fault.message, fault.hint)
  throw new GantryError('INVALID_FILE', `${path}:${split.bodyLine}:1: ${fault.message}`, {
    at: { file: path, line: split.bodyLine, column: 1 },
    ...(fault.hint !== undefined && { hint: fault.hint }),
  })
}

export function unterminated(path: string): GantryError {
  return new GantryError('INVALID_FILE', `${path}:1:1: the frontmatter begins with --- and does not end`, {
    at: { file: path, line: 1, column: 1 },
    hint: 'Write a line of three dashes after its last key.',
  })
}
