import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { program } from '../../support/program.ts'
import type { GantryResult } from './gantry.ts'
import type { TestProject } from './project.ts'

/** Environment of every guard command in this project: its own home, no resident helper. */
export function guardEnv(project: TestProject): Record<string, string> {
  return { GANTRY_GUARD_HOME: join(project.store, 'guard'), GANTRY_GUARD_RESIDENT: 'off' }
}

/** `gantry guard hook …` in its own process. Input: an object as JSON, a text byte for byte. */
export function gantryHook(
  project: TestProject,
  argv: readonly string[],
  payload: object | string,
): Promise<GantryResult> {
  const child = spawn(process.execPath, [program, 'guard', 'hook', ...argv], {
    cwd: project.dir,
    env: { PATH: process.env.PATH ?? '', HOME: project.home, ...guardEnv(project) },
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  child.stdin.end(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return new Promise((settle, fail) => {
    child.on('error', fail)
    child.on('close', (code) => settle({ code, ...said }))
  })
}
