import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'
import { formatPosition, GantryError, type SourcePosition } from '../core/error.ts'
import { errnoOf } from './fs-error.ts'
import { schemaProblems } from './schema-problems.ts'
import { type Problem, parseSource, tooDeep } from './yaml-source.ts'

/** A file the user wrote, checked against its schema, still knowing where everything stands. */
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
 * (naming the nearest right one) and wrong types; all problems of the file in one message. NOT_FOUND when it is not there.
 */
export function readYaml<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): SourceFile<z.output<Schema>> {
  return parseYaml(readText(path), path, schema)
}

/** The same without a disk: `path` is only named in messages. An empty text is an empty mapping. */
export function parseYaml<Schema extends z.ZodType>(
  text: string,
  path: string,
  schema: Schema,
): SourceFile<z.output<Schema>> {
  const source = parseSource(text, path)
  if (source.kind === 'broken') throw invalidFile(path, source.problems)
  const checked = check(schema, source.value)
  if (checked === 'too deep') throw invalidFile(path, [{ at: { file: path }, text: tooDeep }])
  if (!checked.success) throw invalidFile(path, schemaProblems(schema, source, checked.error.issues))
  return { path, text: source.text, value: checked.data, positionOf: source.positionOf }
}

/** What a later check found wrong with a file that fits its schema, at the place where the user wrote it. */
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

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> | 'too deep' {
  try {
    // A file is checked once: generating code for its schema would take longer than the check.
    return schema.safeParse(value, { jitless: true })
  } catch (cause) {
    // A recursive schema runs out of stack before the YAML parser does.
    if (cause instanceof RangeError) return 'too deep'
    throw cause
  }
}

function invalidFile(path: string, problems: readonly Problem[]): GantryError {
  const lines = problems.slice(0, maxListed).map(({ at, text }) => `${formatPosition(at)}: ${text}`)
  const [first] = problems
  const at = first?.at ?? { file: path }
  if (lines.length === 1) return new GantryError('INVALID_FILE', lines.join(''), { at })
  if (problems.length > maxListed) lines.push(`and ${problems.length - maxListed} more`)
  return new GantryError('INVALID_FILE', `${problems.length} problems in ${path}\n  ${lines.join('\n  ')}`, {
    at,
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
