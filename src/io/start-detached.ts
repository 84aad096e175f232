import { spawn } from 'node:child_process'
import type { Variables } from '../core/expand.ts'

/** Starts a program that outlives this one and shares no terminal, pipe or directory with it. Never waits. */
export function startDetached(program: string, args: readonly string[], env: Variables): void {
  const child = spawn(program, args, { cwd: '/', env: { ...env }, detached: true, stdio: 'ignore' })
  // A failed start is ignored, because callers do not depend on it.
  child.on('error', () => {})
  child.unref()
}
