import { resolve } from 'node:path'
import { pathKind } from '../../io/path-kind.ts'

export type Argv = readonly [string, ...string[]]

export interface PlaceholderValues {
  readonly prompt: string
  readonly prompt_file: string
  readonly model: string
  readonly workspace: string
}

/**
 * The template with its paths made absolute: the program runs in the workspace, but a user writes paths relative to the
 * configuration file. A program with a slash is always such a path,
 * unless it begins with a placeholder; an argument only when it begins with `./` or `../` and
 * names something that is there, because it may as well mean a path in the workspace.
 */
export function anchorPaths([program, ...args]: Argv, base: string): Argv {
  return [
    program.includes('/') && !program.startsWith('{') ? resolve(base, program) : program,
    ...args.map((arg) => {
      if (!/^\.{1,2}\//.test(arg) || arg.includes('\0')) return arg
      const path = resolve(base, arg)
      return pathKind(path) === null ? arg : path
    }),
  ]
}

/** One pass: a placeholder inside the prompt is text of the prompt. */
export function fillPlaceholders([program, ...args]: Argv, values: PlaceholderValues): Argv {
  const fill = (word: string): string =>
    word.replaceAll(/\{(prompt|prompt_file|model|workspace)\}/g, (whole, name: string) =>
      isPlaceholder(name, values) ? values[name] : whole,
    )
  return [fill(program), ...args.map(fill)]
}

function isPlaceholder(name: string, values: PlaceholderValues): name is keyof PlaceholderValues {
  return Object.hasOwn(values, name)
}
