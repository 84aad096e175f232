import { GantryError } from '../../core/error.ts'
import { entryKind } from '../../io/path-kind.ts'
import { fileProblem, parseYaml } from '../../io/yaml.ts'
import type { Grader, ToolPattern } from '../generate/contract.ts'
import { type WrittenGrader, writtenGraderSchema } from './case-schema.ts'
import { compileJsPattern } from './pattern/compile-js-pattern.ts'
import { type CaseProblem, listPlain, problem, problemOf, readCaseText } from './read-case-text.ts'

/** The graders of a case in separate files, by name. Directories and other files are ignored. */
export function readGraders(caseDir: string) {
  const dir = `${caseDir}/graders`
  const graders: Grader[] = []
  const listing = entryKind(dir) === 'directory' ? listPlain(dir) : { files: [], problems: [] }
  const problems: CaseProblem[] = [...listing.problems]
  for (const file of listing.files.filter((name) => name.endsWith('.md'))) {
    const path = `${dir}/${file}`
    try {
      const grader = readGrader(dir, file)
      if (grader === null)
        problems.push(problem('warning', path, 'has no frontmatter, so it is not a grader'))
      else graders.push(grader)
    } catch (error) {
      problems.push(problemOf(error, path))
    }
  }
  return { graders, problems }
}

/** null when the file has no type. */
function readGrader(dir: string, file: string): Grader | null {
  const path = `${dir}/${file}`
  const split = splitFrontmatter(readCaseText(dir, file) ?? '')
  if (split.kind === 'plain') return null
  if (split.kind === 'unterminated') throw unterminated(path)
  const source = parseYaml(split.yaml, path, writtenGraderSchema, { emptyIsAbsent: false })
  const made = toGrader(source.value, source.value.name ?? file.slice(0, -'.md'.length), split.body)
  if (made.kind === 'grader') return made.grader
  const [fault] = made.faults
  if (fault === undefined) return null
  // A value that is not among the keys is in the text below them.
  if (Object.hasOwn(source.value, fault.key))
    throw fileProblem(source, [fault.key], fault.message, fault.hint)
  throw new GantryError('INVALID_FILE', `${path}:${split.bodyLine}:1: ${fault.message}`, {
    at: { file: path, line: split.bodyLine, column: 1 },
    ...(fault.hint !== undefined && { hint: fault.hint }),
  })
}

export function unterminated(path: string): GantryError {
  return new GantryError('INVALID_FILE', `${path}:1:1: the frontmatter begins with --- but does not end`, {
    at: { file: path, line: 1, column: 1 },
    hint: 'End it with a line of three dashes.',
  })
}

/** A problem of a grader that its schema cannot detect, at one of its keys. */
interface GraderFault {
  readonly key: string
  readonly message: string
  readonly hint?: string
}

type MadeGrader =
  | { readonly kind: 'grader'; readonly grader: Grader }
  | { readonly kind: 'faulty'; readonly faults: readonly GraderFault[] }

/** A grader with everything filled in. `body` is the text below its frontmatter, empty when it has none. */
export function toGrader(written: WrittenGrader, name: string, body: string): MadeGrader {
  const facts = { name, weight: written.weight ?? 1, arm: written.arm ?? ('default' as const) }
  const made = (grader: Grader, ...faults: readonly (GraderFault | null)[]): MadeGrader => {
    const found = faults.filter((fault) => fault !== null)
    return found.length > 0 ? { kind: 'faulty', faults: found } : { kind: 'grader', grader }
  }
  switch (written.type) {
    case 'regex': {
      const { pattern = body, flags = '', match = 'contains', target = 'last_message' } = written
      const fault = pattern === '' ? missing('pattern') : patternFault('pattern', pattern, flags)
      return made({ ...facts, type: 'regex', pattern, flags, match: matchOf(match), target }, fault)
    }
    case 'tool_used': {
      const { min = 1, max = null } = written
      const use = toolOf(written)
      return made({ ...facts, type: 'tool_used', use, min, max }, inputFault('input_match', use))
    }
    case 'tool_order': {
      const before = toolOf(written.before)
      const after = toolOf(written.after)
      const faults = [inputFault('before', before), inputFault('after', after)]
      return made({ ...facts, type: 'tool_order', before, after }, ...faults)
    }
    case 'file_exists':
      return made({ ...facts, type: 'file_exists', path: written.path, exists: written.exists ?? true })
    case 'llm': {
      const { criteria = body, focus = 'last_message' } = written
      return made(
        { ...facts, type: 'llm', criteria, focus },
        criteria === '' ? missing('criteria') : null,
        typeof focus === 'object' && isPicture(focus.path)
          ? { key: 'focus', message: 'pictures cannot be shown to a judge here' }
          : null,
      )
    }
    case 'baseline': {
      const { baseline_file, criteria = body } = written
      const fault = criteria === '' ? missing('criteria') : null
      return made({ ...facts, type: 'baseline', baseline_file, criteria }, fault)
    }
  }
}

function missing(key: string): GraderFault {
  return { key, message: `${key} is missing: write it as a key, or as the text of the file` }
}

function matchOf(match: string): Extract<Grader, { type: 'regex' }>['match'] {
  if (match === 'contains' || match === 'not_contains') return match
  return { count: Number(match.slice('count:'.length)) }
}

function toolOf(
  written: string | { readonly tool: string; readonly input_match?: string | undefined },
): ToolPattern {
  if (typeof written === 'string') return { tool: written }
  const { tool, input_match } = written
  return { tool, ...(input_match !== undefined && { input_match }) }
}

function inputFault(key: string, { input_match: match }: ToolPattern): GraderFault | null {
  return typeof match === 'string' ? patternFault(key, match, '') : null
}

function patternFault(key: string, pattern: string, flags: string): GraderFault | null {
  const compiled = compileJsPattern(pattern, flags)
  if (compiled.kind === 'ok') return null
  return { key, message: compiled.message, ...(compiled.hint !== undefined && { hint: compiled.hint }) }
}

function isPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|bmp|svg|heic|avif)$/i.test(path)
}

/** The two parts of a Markdown file, split as in `claude plugin eval`. */
type SplitText =
  | { readonly kind: 'plain'; readonly body: string }
  | {
      readonly kind: 'split'
      /** With an empty line instead of the first dashes, so that line numbers are those of the file. */
      readonly yaml: string
      readonly body: string
      /** The line of the file on which the body begins. */
      readonly bodyLine: number
    }
  /** It opens but does not close. */
  | { readonly kind: 'unterminated' }

/** The YAML between two lines of three dashes at the top, if any, and the trimmed text below it. */
export function splitFrontmatter(given: string): SplitText {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const opening = /^---[ \t]*\r?\n/.exec(text)
  if (opening === null) return { kind: 'plain', body: text.trim() }
  const rest = text.slice(opening[0].length)
  const closing = /^---[ \t]*\r?$/m.exec(rest)
  if (closing === null) return { kind: 'unterminated' }
  const yaml = rest.slice(0, closing.index)
  const below = rest.slice(closing.index + closing[0].length)
  const blank = below.length - below.trimStart().length
  return {
    kind: 'split',
    yaml: `\n${yaml}`,
    body: below.trim(),
    bodyLine: lines(yaml) + 2 + lines(below.slice(0, blank)),
  }
}

function lines(text: string): number {
  return text.split('\n').length - 1
}
