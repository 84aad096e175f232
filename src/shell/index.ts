/**
 * What a shell command line does, read without running it. Two questions, one room:
 *
 * - What may it do? `interpret` follows every way a command may take, and records what it writes, runs and hides. The guard asks this.
 * - What does its end prove? `walk-script.ts` follows the commands in order and says what the exit status of the whole shows about
 *   each of them. Evidence and metrics ask this.
 *
 * Both use one table of commands that run other commands (`wrappers.ts`: `env`, `sudo`, `timeout`, `npx`, …), one reader of the
 * arguments of shells (`shell-call.ts`) and one of interpreters (`code/interpreter-call.ts`). `programs/` knows what single programs
 * write, `code/` judges code in other languages. Most files load the parser `unbash`; `wrappers.ts` does not, and may be used at any time.
 */
export type { CallTargets, FilledDirectory, OpaquePart, WriteTarget } from './interpret.ts'
export { interpret } from './interpret.ts'
export { patchedPaths } from './patched-paths.ts'
export { scanPowerShell } from './powershell.ts'
