import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'
import { formatPosition, GantryError, type SourcePosition } from '../core/error.ts'
import { isObject } from '../core/json-fields.ts'
import { errnoOf } from './fs-error.ts'
import { schemaProblems } from './schema-problems.ts'
import { type Problem, parseYamlSource, tooDeep } from './yaml-source.ts'

/** A user's file, checked against its schema, with the positions of its values. */
export interface SourceFile<T> {
  readonly path: string
  readonly text: string
  readonly value: T
  /** Position of the value (or of its key) at a path such as `['evaluation', 'gates', 2, 'pattern']`. */
  positionOf(path: readonly PropertyKey[]): SourcePosition
}

const maxBytes = 16 * 1024 * 1024
const maxListed = 100

/**
 * Reads YAML or JSON. Throws GantryError INVALID_FILE with `file:line:col` for bad syntax, duplicate keys, unknown keys
 * (naming the nearest known one) and wrong types, with all problems of the file in one message. NOT_FOUND when it does not exist.
 */
export function readYaml<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): SourceFile<z.output<Schema>> {
  return parseYaml(readText(path), path, schema)
}

/**
 * The same for a given text. `path` is only used in messages. An empty text is an empty mapping. `emptyIsAbsent: false` is for formats
 * of other programs, which refuse an optional key without a value.
 */
export function parseYaml<Schema extends z.ZodType>(
  text: string,
  path: string,
  schema: Schema,
  options: { readonly emptyIsAbsent?: boolean } = {},
): SourceFile<z.output<Schema>> {
  const source = parseYamlSource(text, path)
  if (source.kind === 'broken') throw invalidFile(path, source.problems, source.cause)
  const checked = check(schema, source.value, options.emptyIsAbsent ?? true)
  if (checked === 'too deep') throw invalidFile(path, [{ at: { file: path }, text: tooDeep }])
  if ('issues' in checked) throw invalidFile(path, schemaProblems(schema, source, checked.issues))
  return { path, text: source.text, value: checked.data, positionOf: source.positionOf }
}

/** A problem found by a later check of a valid file, with its position. */
export function fileProblem(
  source: Pick<SourceFile<unknown>, 'positionOf'>,
  path: readonly PropertyKey[],
  message: string,
  hint?: string,
): GantryError {
  const at = source.positionOf(path)
  const details = hint === undefined ? { at } : { at, hint }
  return new GantryError('INVALID_FILE', `${formatPosition(at)}: ${message}`, details)
}

type Checked<T> = { readonly data: T } | { readonly issues: readonly z.core.$ZodIssue[] }

/**
 * An optional key without a value, such as `tags:` with every item commented out, means that the key is absent. A required one stays
 * a problem of its own.
 */
function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  emptyIsAbsent: boolean,
): Checked<z.output<Schema>> | 'too deep' {
  // A file is checked once: generating code for its schema would take longer than the check.
  const parse = (given: unknown) => schema.safeParse(given, { jitless: true })
  try {
    const first = parse(value)
    if (first.success) return first
    const empty = pathsOf(first.error.issues).filter(
      (path) => path.length > 0 && valueAt(value, path) === null,
    )
    if (empty.length === 0 || !emptyIsAbsent) return first.error
    const second = parse(without(value, empty))
    if (second.success) return second
    const [before, after] = [first.error.issues, second.error.issues]
    const isLeft = ({ path }: z.core.$ZodIssue): boolean => after.some((issue) => samePath(issue.path, path))
    const isNew = ({ path }: z.core.$ZodIssue): boolean => !before.some((issue) => samePath(issue.path, path))
    return { issues: [...before.filter(isLeft), ...after.filter(isNew)] }
  } catch (cause) {
    // A recursive schema runs out of stack before the YAML parser does.
    if (cause instanceof RangeError) return 'too deep'
    throw cause
  }
}

/** The places that the issues are about, also those inside an alternative of a union. */
function pathsOf(
  issues: readonly z.core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): (readonly PropertyKey[])[] {
  return issues.flatMap((issue) => {
    const path = [...above, ...issue.path]
    const inner =
      issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => pathsOf(errors, path)) : []
    return [path, ...inner]
  })
}

function samePath(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index])
}

function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const kept = structuredClone(value)
  for (const path of paths) {
    const holder = valueAt(kept, path.slice(0, -1))
    if (isObject(holder)) delete (holder as Record<PropertyKey, unknown>)[path.at(-1) ?? '']
  }
  return kept
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (holder, key) =>
      typeof holder === 'object' && holder !== null
        ? (holder as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  )
}

function invalidFile(path: string, problems: readonly Problem[], cause?: unknown): GantryError {
  const lines = problems.slice(0, maxListed).map(({ at, text }) => `${formatPosition(at)}: ${text}`)
  const [first] = problems
  const at = first?.at ?? { file: path }
  if (lines.length === 1) return new GantryError('INVALID_FILE', lines.join(''), { at, cause })
  if (problems.length > maxListed) lines.push(`and ${problems.length - maxListed} more`)
  return new GantryError('INVALID_FILE', `${problems.length} problems in ${path}\n  ${lines.join('\n  ')}`, {
    at,
    cause,
  })
}

function readText(path: string): string {
  let bytes: Buffer
  try {
    const stats = statSync(path)
    if (stats.isDirectory()) throw unreadable(path, 'is a directory, not a file')
    if (!stats.isFile()) throw unreadable(path, 'is not a regular file')
    if (stats.size > maxBytes) throw unreadable(path, `is larger than ${maxBytes / 1024 / 1024} MiB`)
    bytes = readFileSync(path)
  } catch (cause) {
    if (cause instanceof GantryError) throw cause
    switch (errnoOf(cause)) {
      case 'ENOENT':
      case 'ENOTDIR':
        throw new GantryError('NOT_FOUND', `${path} does not exist`, {
          hint: 'Check the path; relative paths start at the working directory.',
          at: { file: path },
          cause,
        })
      case 'EACCES':
      case 'EPERM':
        throw unreadable(path, 'cannot be read: permission denied', cause)
      default:
        throw unreadable(
          path,
          `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause,
        )
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw unreadable(path, 'is not UTF-8 text', cause)
  }
}

function unreadable(path: string, why: string, cause?: unknown): GantryError {
  return new GantryError('INVALID_FILE', `${path} ${why}`, { at: { file: path }, cause })
}
