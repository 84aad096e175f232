import type { Evidence } from '../core/evidence.ts'
import { type ExecResult, exec } from '../io/exec.ts'
import { findProgram } from '../io/find-program.ts'
import type { DeclaredCommand, VerificationRun } from './contract.ts'
import { changedTree, countsOf, emptyEnd } from './evidence/judge-run.ts'
import { provesNothing } from './evidence/proves-nothing.ts'

export interface VerificationRequest {
  readonly root: string
  readonly commands: readonly DeclaredCommand[]
  /** The whole environment of the commands. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of each command. */
  readonly timeoutMs: number
  /** Fingerprint of the working tree; null when it cannot be had. */
  tree(): Promise<string | null>
  readonly onOutput?: (command: string, chunk: Uint8Array) => void
  readonly signal?: AbortSignal
}

const maxOutputBytes = 1024 * 1024

/**
 * Runs the declared commands one after the other, each in a shell of its own in the root, and says what each proves. Never
 * throws for what a command does. After an abort the remaining ones are left out.
 */
export async function runVerification(request: VerificationRequest): Promise<readonly VerificationRun[]> {
  const runs: VerificationRun[] = []
  let before = await fingerprint(request)
  for (const declared of request.commands) {
    if (request.signal?.aborted) break
    const startedAt = new Date().toISOString()
    const result = await runOne(request, declared)
    const after = await fingerprint(request)
    runs.push({ ...judged(declared, result, { before, after }), startedAt })
    before = after
  }
  return runs
}

async function fingerprint({ tree }: VerificationRequest): Promise<string | null> {
  try {
    return await tree()
  } catch {
    // The caller hears it as evidence that cannot be bound to a tree.
    return null
  }
}

function runOne(request: VerificationRequest, { command }: DeclaredCommand): Promise<ExecResult> {
  const { root, timeoutMs, onOutput, signal } = request
  const env = Object.fromEntries(
    Object.entries(request.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const listen = (chunk: Uint8Array): void => onOutput?.(command, chunk)
  return exec({
    argv: shellFor(env.PATH ?? '', command),
    cwd: root,
    env,
    timeoutMs,
    maxOutputBytes,
    onStdout: listen,
    onStderr: listen,
    ...(signal !== undefined && { signal }),
  })
}

/** With Bash a declared pipe fails when any part of it does. */
function shellFor(searchPath: string, command: string): readonly [string, ...string[]] {
  const bash = findProgram('bash', searchPath) ?? findProgram('bash', '/bin:/usr/bin')
  return bash === null ? ['/bin/sh', '-c', command] : [bash, '-o', 'pipefail', '-c', command]
}

type Run = Omit<VerificationRun, 'startedAt'>

function judged(
  { command, kind }: DeclaredCommand,
  result: ExecResult,
  { before, after }: { readonly before: string | null; readonly after: string | null },
): Run {
  const output = `${result.stdout.text}\n${result.stderr.text}`
  const exitCode = exitCodeOf(result)
  const evidence: Omit<Evidence, 'startedAt'> = {
    kind,
    command,
    exitCode,
    treeHash: after ?? before ?? '',
    durationMs: Math.round(result.durationMs),
    ...countsOf(kind, output),
  }
  if (result.ending === 'not_started')
    return {
      ...evidence,
      notCounted: `it could not be started: ${result.error ?? 'no reason given'}`,
      infra: true,
    }
  if (before === null || after === null)
    return { ...evidence, notCounted: 'the tree it ran on could not be fingerprinted', infra: true }
  const notCounted = unseenEnd(result) ?? provesNothing(command) ?? emptyEnd({ exitCode, output, kind })
  if (notCounted !== null) return { ...evidence, notCounted }
  return before === after ? evidence : { ...evidence, notCounted: changedTree }
}

function unseenEnd({ ending, signal }: ExecResult): string | null {
  switch (ending) {
    case 'timed_out':
      return 'it ran into the time limit'
    case 'aborted':
      return 'it was interrupted'
    case 'signalled':
      return `it was ended by ${signal ?? 'a signal'}`
    default:
      return null
  }
}

function exitCodeOf({ ending, exitCode }: ExecResult): number {
  switch (ending) {
    case 'exited':
      return exitCode ?? 1
    case 'timed_out':
      return 124
    case 'aborted':
      return 130
    case 'signalled':
      return 128
    case 'not_started':
      return 127
  }
}
