// Set up before tests that share a thread: a process that outlives the thread which started it is never waited for.
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

function refuse(): never {
  throw new Error(
    'a test of the project "pure" started a process: take its file out of `pure` in vitest.config.ts',
  )
}

Object.assign(
  childProcess,
  Object.fromEntries(
    ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'].map((name) => [
      name,
      refuse,
    ]),
  ),
)
syncBuiltinESMExports()
