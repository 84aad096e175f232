import { spawn } from 'node:child_process'

/** Starts a program that outlives this one and shares no terminal, pipe or directory with it. Never waits. */
export function startDetached(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const child = spawn(program, args, { cwd: '/', env: { ...env }, detached: true, stdio: 'ignore' })
  // A failed start is ignored, because callers do not depend on it.
  child.on('error', () => {})
  child.unref()
}
