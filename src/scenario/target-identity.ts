import { fileHash } from '../io/content-hash.ts'
import { exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import type { Case } from './case.ts'

/** Which build of the tool is under test. */
export interface TargetIdentity {
  /** First line of `--version`; null when it does not tell, or when the tool lies in the template. */
  readonly version: string | null
  /** Hash of the program's file; null when it lies in the template, whose own hash covers it. */
  readonly fingerprint: string | null
}

/** Asks the tool for its version once per run, away from every workspace. */
export async function targetIdentity(
  { target, targetProgram }: Case,
  env: Readonly<Record<string, string>>,
  scratch: string,
  signal: AbortSignal,
): Promise<TargetIdentity> {
  const program =
    targetProgram ??
    (target.binary.includes('/') ? null : findProgram(target.binary, target.env.PATH ?? env.PATH ?? ''))
  if (program === null) return { version: null, fingerprint: null }
  const asked = await exec({
    argv: [program, '--version'],
    cwd: scratch,
    env,
    timeoutMs: 10_000,
    signal,
    maxOutputBytes: 4096,
  })
  const line = asked.stdout.text.split('\n')[0]?.trim() ?? ''
  return { version: asked.exitCode === 0 && line !== '' ? line : null, fingerprint: fileHash(program) }
}
