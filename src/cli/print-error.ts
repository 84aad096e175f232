import pc from 'picocolors'
import { formatPosition, GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'

/**
 * Prints what went wrong, where, and how to fix it. A bug shows its stack, so that it can be reported. `causes` adds the errors that
 * led to this one.
 */
export function printError(
  error: unknown,
  context: Pick<CliContext, 'stderr'>,
  { causes = false }: { readonly causes?: boolean } = {},
): ExitCode {
  const { red, bold, dim } = pc.createColors(context.stderr.color)
  if (!(error instanceof GantryError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    context.stderr.write(`${red(bold('bug:'))} Gantry failed with an unexpected error.\n${stack}\n`)
    return exitCode.infra
  }
  // A message that lists several problems already contains their positions.
  const position = error.at === undefined ? '' : formatPosition(error.at)
  const located = position === '' || error.message.includes(position) ? '' : `${dim(`${position}: `)}`
  context.stderr.write(`${red(bold('error:'))} ${located}${error.message}\n`)
  if (error.hint !== undefined) context.stderr.write(`${dim('hint:')}  ${error.hint}\n`)
  for (
    let { cause } = error;
    causes && cause !== undefined;
    cause = cause instanceof Error ? cause.cause : undefined
  )
    context.stderr.write(`${dim('cause:')} ${textOf(cause)}\n`)
  return error.exitCode
}

/** With the stack, whose first line is the message in most cases. */
function textOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { stack = '', message } = cause
  return stack.includes(message) ? stack : `${cause.name}: ${message}\n${stack}`
}
