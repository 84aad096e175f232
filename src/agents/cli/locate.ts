import { resolve } from 'node:path'
import { findProgram, isExecutable } from '../../io/find-program.ts'
import { isFile } from '../../io/path-kind.ts'
import type { CliAgent, CliConfig, CliInstance } from './contract.ts'

export type LocatedProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly problem: string }

/** Where the agent's program is, on the agent's own PATH, or what would put it there. */
export function locate<Config extends CliConfig>(
  { program, install }: CliAgent<Config>,
  { config: { binary }, base }: CliInstance<Config>,
  env: Readonly<Record<string, string>>,
): LocatedProgram {
  return locateProgram({ wanted: binary ?? program, base, install }, env)
}

export interface WantedProgram {
  /** A name on PATH, or a path. */
  readonly wanted: string
  readonly base: string
  /** null when the user is known to have another one than the usual. */
  readonly install: string | null
}

export function locateProgram(
  { wanted, base, install }: WantedProgram,
  env: Readonly<Record<string, string>>,
): LocatedProgram {
  const way = install === null ? 'install it, or give its path.' : `install it with: ${install}`
  if (!wanted.includes('/')) {
    const path = findProgram(wanted, env.PATH ?? '')
    if (path !== null) return { kind: 'found', path }
    return { kind: 'missing', problem: `${wanted} is not on the PATH of the agent; ${way}` }
  }
  const path = resolve(base, wanted)
  if (!isFile(path)) return { kind: 'missing', problem: `${path} does not exist; ${way}` }
  if (!isExecutable(path)) return { kind: 'missing', problem: `${path} is not executable; use chmod +x.` }
  return { kind: 'found', path }
}
