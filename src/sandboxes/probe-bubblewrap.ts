import { exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import type { EngineContext, EngineProbe } from './contract.ts'

/** Being installed is not enough: the kernel must allow it namespaces, so one is really made. */
export async function probeBubblewrap({ env, signal }: EngineContext): Promise<EngineProbe> {
  const engine = 'bubblewrap'
  const program = findProgram('bwrap', env.PATH ?? '')
  if (program === null)
    return {
      engine,
      usable: false,
      detail: 'bwrap is not on the PATH',
      fix: 'sudo apt-get install bubblewrap',
    }
  const run = (...args: readonly string[]) =>
    exec({
      argv: [program, ...args],
      cwd: '/',
      env,
      timeoutMs: 5_000,
      maxOutputBytes: 4_096,
      ...(signal !== undefined && { signal }),
    })
  const tried = await run('--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', 'true')
  if (tried.exitCode === 0) {
    const { stdout } = await run('--version')
    return { engine, usable: true, detail: stdout.text.trim().replace(/^bubblewrap /, '') }
  }
  return {
    engine,
    usable: false,
    detail: `it cannot make a namespace here: ${(tried.error ?? tried.stderr.text).trim().split('\n')[0] ?? ''}`,
    fix: 'sudo sysctl kernel.unprivileged_userns_clone=1',
  }
}
