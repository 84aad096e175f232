import { z } from 'zod'
import { nearest } from '../core/nearest.ts'
import { issueText } from './issue-text.ts'
import { byPosition, type Problem, type Source } from './yaml-source.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A schema's issues in plain words, each with its position in the file, in file order. */
export function schemaProblems(schema: z.core.$ZodType, source: Source, issues: readonly Issue[]): Problem[] {
  const problems = issues.flatMap((issue) => problemsOf(schema, source, issue, []))
  return problems.sort(byPosition)
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
    default:
      break
  }
  const value = path.reduce(childOf, source.value)
  // A refinement may point at an absent optional key. Its own message is better than "missing".
  if (value === undefined && key !== undefined && issue.code !== 'custom')
    return [{ at: source.positionOf(path.slice(0, -1)), text: missingKeyText(issue, path) }]
  return [{ at: source.positionOf(path), text: `${labelOf(path)}${issueText(issue, value)}` }]
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

/**
 * The keys a schema knows for the mapping at `path` of `value`. Looks through everything that wraps a mapping; of a
 * discriminated union only the member that the value names counts.
 */
function schemaKeys(schema: z.core.$ZodType, path: readonly PropertyKey[], value: unknown): string[] {
  let here: readonly z.core.$ZodType[] = unwrap(schema, value)
  let inner = value
  for (const segment of path) {
    inner = childOf(inner, segment)
    here = here.flatMap((holder) => below(holder, segment)).flatMap((found) => unwrap(found, inner))
  }
  const keys = here.flatMap((found) =>
    found instanceof z.core.$ZodObject ? Object.keys(found._zod.def.shape) : [],
  )
  return [...new Set(keys)]
}

function childOf(value: unknown, segment: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, segment) ? Reflect.get(value, segment) : undefined
}

/** Schemas that can stand behind this one, without wrappers. */
function unwrap(
  schema: z.core.$ZodType,
  value: unknown,
  seen: ReadonlySet<z.core.$ZodType> = new Set(),
): z.core.$ZodType[] {
  if (seen.has(schema)) return []
  const through = (inner: z.core.$ZodType): z.core.$ZodType[] =>
    unwrap(inner, value, new Set([...seen, schema]))
  const { def } = schema._zod
  // Optional, nullable, default and every other wrapper has its schema under this name.
  if ('innerType' in def && def.innerType instanceof z.core.$ZodType) return through(def.innerType)
  if (schema instanceof z.core.$ZodLazy) return through(schema._zod.def.getter())
  // Behind a preprocessing step the checked schema is the second half of the pipe.
  if (schema instanceof z.core.$ZodPipe) return [schema._zod.def.in, schema._zod.def.out].flatMap(through)
  if (schema instanceof z.core.$ZodIntersection)
    return [schema._zod.def.left, schema._zod.def.right].flatMap(through)
  if (schema instanceof z.core.$ZodUnion) return named(schema, value).flatMap(through)
  return [schema]
}

/** Of a discriminated union the member the value names, of any other union all members. */
function named(union: z.core.$ZodUnion, value: unknown): readonly z.core.$ZodType[] {
  const { options } = union._zod.def
  if (!(union instanceof z.core.$ZodDiscriminatedUnion)) return options
  const { discriminator } = union._zod.def
  const name = childOf(value, discriminator)
  const member = options.filter((option) =>
    [...(option._zod.propValues?.[discriminator] ?? [])].some((allowed) => allowed === name),
  )
  return member.length > 0 ? member : options
}

function below(holder: z.core.$ZodType, segment: PropertyKey): z.core.$ZodType[] {
  if (holder instanceof z.core.$ZodObject) {
    const { shape, catchall } = holder._zod.def
    const child = Object.hasOwn(shape, segment) ? shape[String(segment)] : catchall
    return child === undefined ? [] : [child]
  }
  if (holder instanceof z.core.$ZodArray) return [holder._zod.def.element]
  if (holder instanceof z.core.$ZodRecord) return [holder._zod.def.valueType]
  if (holder instanceof z.core.$ZodTuple) {
    const child = holder._zod.def.items[Number(segment)] ?? holder._zod.def.rest
    return child === null ? [] : [child]
  }
  return []
}
