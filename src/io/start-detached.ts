import { spawn } from 'node:child_process'

/** Starts a program that outlives this one and holds nothing of it: no terminal, no pipe, no directory. Never waits. */
export function startDetached(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const child = spawn(program, args, { cwd: '/', env: { ...env }, detached: true, stdio: 'ignore' })
  // Whoever starts it can do without it.
  child.on('error', () => {})
  child.unref()
}
