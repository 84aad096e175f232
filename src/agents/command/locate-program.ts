import { findProgram, isExecutable } from '../../io/find-program.ts'
import { isFile } from '../../io/path-kind.ts'
import type { ProbeContext } from '../contract.ts'
import type { Argv } from './argv.ts'

/** Where the program of an anchored command is, or why it cannot be used. */
export function locateProgram(
  [program]: Argv,
  env: ProbeContext['env'],
): { readonly path: string | null; readonly problem: string | null } {
  // `{workspace}/agent` is known only in the trial.
  if (program.startsWith('{')) return { path: program, problem: null }
  if (!program.includes('/')) {
    const path = findProgram(program, env.PATH ?? '')
    return {
      path,
      problem:
        path === null ? `${program} is not on the PATH of the agent; install it or give its path.` : null,
    }
  }
  if (!isFile(program)) return { path: null, problem: `${program} does not exist.` }
  if (!isExecutable(program)) {
    return {
      path: null,
      problem: `${program} is not executable; use chmod +x, or write its interpreter before it.`,
    }
  }
  return { path: program, problem: null }
}
