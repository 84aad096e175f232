import { stringify } from 'yaml'
import type { Grader, ToolPattern } from '../../generate/contract.ts'

/** A grader as a file in the format of `claude plugin eval`. Defaults are omitted. */
export function graderFile(grader: Grader): string {
  const { weight, arm } = grader
  const fields = {
    ...fieldsOf(grader),
    weight: weight === 1 ? undefined : weight,
    arm: arm === 'default' ? undefined : arm,
  }
  const body = grader.type === 'llm' || grader.type === 'baseline' ? bodyOf(grader.criteria) : ''
  return `---\n${yamlText(fields)}---\n${body === '' ? '' : `\n${body}\n`}`
}

function fieldsOf(grader: Grader): Readonly<Record<string, unknown>> {
  switch (grader.type) {
    case 'regex': {
      const { type, pattern, flags, match, target } = grader
      return {
        type,
        pattern,
        flags: flags === '' ? undefined : flags,
        match: match === 'contains' ? undefined : typeof match === 'object' ? `count:${match.count}` : match,
        target: target === 'last_message' ? undefined : target,
      }
    }
    case 'tool_used': {
      const { type, use, min, max } = grader
      return { type, ...toolFields(use), min: min === 1 ? undefined : min, max: max ?? undefined }
    }
    case 'tool_order':
      return { type: grader.type, before: toolFields(grader.before), after: toolFields(grader.after) }
    case 'file_exists':
      return { type: grader.type, path: grader.path, exists: grader.exists ? undefined : false }
    case 'llm': {
      const { type, focus, criteria } = grader
      return { type, focus: focus === 'last_message' ? undefined : focus, criteria: keyOf(criteria) }
    }
    case 'baseline':
      return { type: grader.type, baseline_file: grader.baseline_file, criteria: keyOf(grader.criteria) }
  }
}

function toolFields({ tool, input_match: match }: ToolPattern): Readonly<Record<string, unknown>> {
  return {
    tool,
    ...(match !== undefined && { input_match: typeof match === 'string' ? match : JSON.stringify(match) }),
  }
}

/** White space around a text below the frontmatter is lost, so a criterion that has some is a key. */
function keyOf(criteria: string): string | undefined {
  return criteria.trim() === criteria ? undefined : criteria
}

function bodyOf(criteria: string): string {
  return keyOf(criteria) === undefined ? criteria : ''
}

/** Keys and values as YAML; undefined values are omitted. Multi-line texts stay on one line, with escapes. */
export function yamlText(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields, {
    lineWidth: 0,
    singleQuote: true,
    blockQuote: false,
    compat: 'yaml-1.1',
    doubleQuotedAsJSON: true,
  })
}
