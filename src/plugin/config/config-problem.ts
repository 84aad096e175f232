import type { z } from 'zod'
import { formatPosition, GantryError, type SourcePosition } from '../../core/error.ts'
import type { ConfigSource, ConfigSources } from './said.ts'

export interface ConfigProblem {
  readonly at: SourcePosition
  readonly text: string
}

/** All problems in one error, a line for each. `cause` carries the complaints of the schema. */
export function configProblem(
  problems: readonly ConfigProblem[],
  kind: 'file' | 'said',
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

/** Who is to be asked about the value at a path: who said it, else who said something beside or above it. */
export function sourceOf(sources: ConfigSources, path: readonly PropertyKey[]): ConfigSource | null {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).map(String).join('.')
    const found = [...sources].filter(([name]) => name === key || name.startsWith(`${key}.`))
    const strongest = found.map(([, source]) => source).toSorted((a, b) => rank[b.kind] - rank[a.kind])
    if (strongest[0] !== undefined) return strongest[0]
  }
  return null
}

const rank = { file: 0, environment: 1, flag: 2 } as const
