import { GantryError } from '../core/error.ts'
import { exec, shell } from '../io/exec.ts'
import type { GateContext, GateFinding } from './contract.ts'
import { excerpt, tail } from './excerpt.ts'

export interface CommandSpec {
  readonly command: string
  readonly timeout_secs: number
}

/** A command that ended by itself, or a finding about why it did not. */
export type CommandRun =
  | {
      readonly kind: 'ended'
      readonly exitCode: number
      readonly stdout: string
      /** The output was too long: `stdout` is its beginning and its end. */
      readonly truncated: boolean
      readonly detail: Readonly<Record<string, unknown>>
    }
  | { readonly kind: 'broken'; readonly finding: GateFinding }

const maxOutputBytes = 4 * 1024 * 1024

/** Runs a gate's command in the workspace. Throws for errors of the machine. */
export async function runCommand(spec: CommandSpec, context: GateContext): Promise<CommandRun> {
  const { command, timeout_secs } = spec
  if (command.trim() === '') return broken('the command is empty', { command })
  const result = await exec({
    argv: shell(command),
    cwd: context.workspace,
    env: context.env,
    timeoutMs: timeout_secs * 1000,
    signal: context.signal,
    maxOutputBytes,
  })
  const { exitCode, stdout, stderr } = result
  const detail = {
    command: excerpt(command),
    exit_code: exitCode,
    timed_out: result.ending === 'timed_out',
    stdout_tail: tail(stdout.text),
    stderr_tail: tail(stderr.text),
    duration_ms: Math.round(result.durationMs),
  }
  switch (result.ending) {
    case 'aborted':
      throw new GantryError('INTERRUPTED', `stopped while a gate ran ${commandName(command)}`)
    case 'timed_out':
      return broken(`${commandName(command)} did not end within ${timeout_secs} s`, detail)
    case 'signalled':
      return broken(`${commandName(command)} was killed by ${result.signal ?? 'a signal'}`, detail)
    case 'not_started':
      return notStarted(command, result.error ?? 'unknown reason', detail)
    case 'exited':
  }
  if (exitCode === null) return broken(`${commandName(command)} ended without an exit code`, detail)
  return { kind: 'ended', exitCode, stdout: stdout.text, truncated: stdout.truncated, detail }
}

/**
 * For gates that judge stdout. Any exit code is accepted unless the user expects one, except the shell's codes for a command that
 * could not run: its empty output proves nothing.
 */
export async function runForOutput(
  spec: CommandSpec & { readonly expect_exit?: number | undefined },
  context: GateContext,
): Promise<CommandRun> {
  const run = await runCommand(spec, context)
  if (run.kind === 'broken' || run.exitCode === spec.expect_exit) return run
  if (spec.expect_exit !== undefined) {
    const expected = `${exitText(run.exitCode)}, expected ${spec.expect_exit}`
    return broken(`${commandName(spec.command)} exited with ${expected}`, run.detail)
  }
  if (run.exitCode !== 126 && run.exitCode !== 127) return run
  return broken(`${commandName(spec.command)} exited with ${exitText(run.exitCode)}`, run.detail)
}

/** Two codes have a special meaning in the shell. */
export function exitText(exitCode: number): string {
  if (exitCode === 126) return '126 (found, but not executable)'
  return exitCode === 127 ? '127 (command not found)' : String(exitCode)
}

/** A command for messages: one line, shortened. */
export function commandName(command: string): string {
  return `"${excerpt(command.replaceAll(/\s+/g, ' ').trim(), 120)}"`
}

/** Added to the message of a search that found nothing in a truncated output. */
export function truncationNote(truncated: boolean): string {
  return truncated ? ' in the beginning and the end of an output that was too long to be kept whole' : ''
}

function notStarted(command: string, reason: string, detail: GateFinding['detail']): CommandRun {
  // A machine without free processes, memory or file handles says nothing about the agent.
  if (/\b(EAGAIN|EMFILE|ENFILE|ENOMEM)\b/.test(reason))
    throw new GantryError('SPAWN_FAILED', `a gate could not run ${commandName(command)}: ${reason}`, {
      hint: 'Run fewer trials at once, or raise the limits (ulimit -u, ulimit -n).',
    })
  return broken(`${commandName(command)} could not be started: ${reason}`, { ...detail, error: reason })
}

function broken(message: string, detail: GateFinding['detail'] = {}): CommandRun {
  return { kind: 'broken', finding: { passed: false, message, detail } }
}
