import pc from 'picocolors'
import { formatPosition, GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'

/** Prints what went wrong, where, and what to do. A bug shows its stack, so that it can be reported. */
export function printError(error: unknown, context: Pick<CliContext, 'stderr'>): ExitCode {
  const { red, bold, dim } = pc.createColors(context.stderr.color)
  if (!(error instanceof GantryError)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    context.stderr.write(`${red(bold('bug:'))} Gantry failed with an unexpected error.\n${stack}\n`)
    return exitCode.infra
  }
  // A message about a file starts with its position already when it lists several problems.
  const position = error.at === undefined ? '' : formatPosition(error.at)
  const located = position === '' || error.message.includes(position) ? '' : `${dim(`${position}: `)}`
  context.stderr.write(`${red(bold('error:'))} ${located}${error.message}\n`)
  if (error.hint !== undefined) context.stderr.write(`${dim('hint:')}  ${error.hint}\n`)
  return error.exitCode
}
