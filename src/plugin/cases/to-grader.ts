import type { Grader, ToolPattern } from '../generate/contract.ts'
import type { WrittenGrader } from './grader-schema.ts'
import { compileJsPattern } from './pattern/compile-js-pattern.ts'

/** Something that is wrong with a grader although it fits its schema, at a key of it. */
export interface GraderFault {
  readonly key: string
  readonly message: string
  readonly hint?: string
}

export type MadeGrader =
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
