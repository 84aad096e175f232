import { Command } from 'commander'
import { version } from '../core/version.ts'
import type { CliContext } from './context.ts'

/** The program `gantry` with the given commands. */
export function createProgram(context: CliContext, commands: readonly Command[]): Command {
  const program = new Command('gantry')
    .description(
      'The deterministic scaffold around coding agents: the model proposes, deterministic code disposes.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError('(add --help to see what is possible)')
    .addHelpText(
      'after',
      `\nExit codes: 0 pass · 1 checks failed · 2 bad usage or input · 3 infrastructure · 4 inconclusive or partial with --strict · 130 interrupted`,
    )
  for (const command of commands) program.addCommand(command)
  for (const command of [program, ...descendants(program)]) adapt(command, context)
  return program
}

/** Commander prints and exits by itself unless told otherwise; here everything goes through the context. */
function adapt(command: Command, context: CliContext): void {
  command.exitOverride()
  command.configureOutput({
    writeOut: (text) => context.stdout.write(text),
    writeErr: (text) => context.stderr.write(text),
    getOutHelpWidth: () => context.stdout.columns,
    getErrHelpWidth: () => context.stderr.columns,
    getOutHasColors: () => context.stdout.color,
    getErrHasColors: () => context.stderr.color,
  })
}

function descendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...descendants(child)])
}
