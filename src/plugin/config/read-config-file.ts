import { dirname, extname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { Project } from '../../config/load.ts'
import { formatPosition, GantryError, type SourcePosition } from '../../core/error.ts'
import { parseJsonc } from '../../core/jsonc/parse-jsonc.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { schemaProblems } from '../../io/schema-problems.ts'
import { readYaml } from '../../io/yaml.ts'
import { parseYamlSource } from '../../io/yaml-source.ts'
import { pluginFileSchema } from './keys/schema.ts'

/** The configuration of one file, with positions. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string
  /** Where its relative paths start. */
  readonly base: string
  readonly value: Readonly<Record<string, unknown>>
  positionOf(path: readonly PropertyKey[]): SourcePosition
}

/**
 * Reads a configuration file: JSON by its extension, else YAML. Throws GantryError: NOT_FOUND, or INVALID_FILE with the position of
 * every problem.
 */
export function readConfigFile(path: string): ConfigFile {
  const { text } = readYaml(path, z.unknown())
  if (extname(path).toLowerCase() === '.json') refuseOtherThanJson(text, path)
  const source = parseYamlSource(text, path)
  if (source.kind === 'broken') throw configProblem(source.problems, 'file')
  const checked = pluginFileSchema.safeParse(source.value)
  if (!checked.success)
    throw configProblem(schemaProblems(pluginFileSchema, source, checked.error.issues), 'file', checked.error)
  return { path, base: dirname(path), value: checked.data, positionOf: source.positionOf }
}

/** The file that cc-plugin-eval reads when none is named. */
const usualName = 'config.yaml'

/**
 * `config.yaml` of a directory if it belongs to cc-plugin-eval. Many other programs have a file of this name, so it counts only with
 * keys that together no other program has. The text is enough: a file with an error in it must be found and reported.
 */
export function findUsualConfig(directory: string): string | null {
  const path = join(directory, usualName)
  const text = readShortText(path, 1_000_000) ?? ''
  const isTheirs =
    /^(?:plugin|marketplace):/m.test(text) && /^(?:scope|generation|execution|evaluation):/m.test(text)
  return isTheirs ? path : null
}

/** `plugin:` of gantry.yaml, which was checked when the project was loaded. null when it is empty. */
export function configOfProject({ root, config, source }: Project): ConfigFile | null {
  if (source === null || Object.keys(config.plugin).length === 0) return null
  return {
    path: resolve(source.path),
    base: root,
    value: config.plugin,
    positionOf: (path) => source.positionOf(['plugin', ...path]),
  }
}

function refuseOtherThanJson(text: string, path: string): void {
  const parsed = parseJsonc(text, { comments: false })
  if (parsed.kind === 'parsed' || text.trim() === '') return
  const before = text.slice(0, parsed.offset).split('\n')
  const at = { file: path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  throw new GantryError('INVALID_FILE', `${path}:${at.line}:${at.column}: ${parsed.text}`, {
    hint: 'A file that ends in .json must be JSON; name it .yaml for YAML.',
    at,
    cause: new SyntaxError(parsed.text),
  })
}

export interface ConfigProblem {
  readonly at: SourcePosition
  readonly text: string
}

/** One error with all problems, one per line. `cause` has the issues of the schema. */
export function configProblem(
  problems: readonly ConfigProblem[],
  kind: 'file' | 'input',
  cause?: z.core.$ZodError,
): GantryError {
  const lines = problems.map(({ at, text }) => `${formatPosition(at)}: ${text}`)
  const [first] = problems
  const message =
    lines.length === 1
      ? lines.join('')
      : `${lines.length} problems in the configuration of the evaluation\n  ${lines.join('\n  ')}`
  return new GantryError(kind === 'file' ? 'INVALID_FILE' : 'USAGE', message, {
    ...(first !== undefined && { at: first.at }),
    ...(cause !== undefined && { cause }),
  })
}
