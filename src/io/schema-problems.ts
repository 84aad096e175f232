import type { z } from 'zod'
import { nearest } from '../core/nearest.ts'
import { issueText } from './issue-text.ts'
import { childOf, schemaKeys } from './schema-keys.ts'
import type { Problem, Source } from './yaml-source.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A schema's complaints in the user's words, each at the place in the file it is about, in the order of the file. */
export function schemaProblems(schema: z.core.$ZodType, source: Source, issues: readonly Issue[]): Problem[] {
  const problems = issues.flatMap((issue) => problemsOf(schema, source, issue, []))
  return problems.sort(
    (a, b) => (a.at.line ?? 0) - (b.at.line ?? 0) || (a.at.column ?? 0) - (b.at.column ?? 0),
  )
}

function problemsOf(schema: z.core.$ZodType, source: Source, issue: Issue, above: Path): Problem[] {
  const path = [...above, ...issue.path]
  const key = path.at(-1)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((unknown) => ({
        at: source.keyPositionOf([...path, unknown]),
        text: unknownKeyText(unknown, schemaKeys(schema, path, source.value)),
      }))
    case 'invalid_key':
      return issue.issues.map((inner) => ({
        at: source.keyPositionOf(path),
        text: `key '${String(key)}': ${issueText(inner, key)}`,
      }))
    case 'invalid_union': {
      const branch = likeliestBranch(issue.errors)
      if (branch !== undefined) return branch.flatMap((inner) => problemsOf(schema, source, inner, path))
      break
    }
    case 'invalid_type':
    case 'invalid_value':
    case 'invalid_format':
    case 'invalid_element':
    case 'too_small':
    case 'too_big':
    case 'not_multiple_of':
    case 'custom':
      break
  }
  const value = path.reduce(childOf, source.value)
  if (value === undefined && key !== undefined && !isCustom(issue))
    return [{ at: source.positionOf(path.slice(0, -1)), text: missingKeyText(issue, path) }]
  return [{ at: source.positionOf(path), text: `${labelOf(path)}${issueText(issue, value)}` }]
}

/** A refinement may well point at a key that is rightly absent; its own words say more than "missing". */
function isCustom(issue: Issue): boolean {
  return issue.code === 'custom'
}

function unknownKeyText(unknown: string, known: readonly string[]): string {
  const near = nearest(unknown, known)
  if (near !== undefined) return `unknown key '${unknown}', did you mean '${near}'?`
  if (known.length === 0) return `unknown key '${unknown}'`
  return `unknown key '${unknown}' (known here: ${known.join(', ')})`
}

function missingKeyText(issue: Issue, path: Path): string {
  const expected = issueText(issue, undefined)
  const key = path.at(-1)
  if (typeof key === 'number') return `${labelOf(path.slice(0, -1))}item ${key + 1} is missing, ${expected}`
  return `missing key '${String(path.at(-1))}'${path.length > 1 ? ` in ${pathText(path.slice(0, -1))}` : ''}, ${expected}`
}

/**
 * The member of a plain union the user meant: one whose outer type fits. undefined when none fits, or when zod tells
 * a wrong discriminator, which has no branches.
 */
function likeliestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches
    .filter((issues) => !issues.some(isAboutWhole))
    .toSorted((a, b) => a.length - b.length)
    .at(0)
}

function isAboutWhole(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

function labelOf(path: Path): string {
  return path.length === 0 ? '' : `${pathText(path)}: `
}

function pathText(path: Path): string {
  return path
    .map((segment, index) =>
      typeof segment === 'number' ? `[${segment}]` : `${index === 0 ? '' : '.'}${String(segment)}`,
    )
    .join('')
}
