import { Command } from 'commander'
import { version } from '../core/version.ts'
import { boundaryCommand } from './boundary/index.ts'
import type { CliContext } from './context.ts'
import { doctorCommand } from './doctor/index.ts'
import { guardCommand } from './guard/index.ts'
import { initCommand } from './init.ts'
import { planCommand } from './plan/index.ts'
import { pluginCommand } from './plugin/index.ts'
import { runsCommand } from './runs/index.ts'
import { scenarioCommand } from './scenario/index.ts'
import { serveCommand } from './serve.ts'
import { taskCommand } from './task/index.ts'
import { testCommand } from './test.ts'
import { verifyCommand } from './verify.ts'

/** Every command of `gantry`; the docs' reference is generated from what this returns. */
export function createProgram(context: CliContext): Command {
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
  program.addCommand(testCommand(context))
  program.addCommand(scenarioCommand(context))
  program.addCommand(initCommand(context))
  program.addCommand(verifyCommand(context))
  program.addCommand(taskCommand(context))
  program.addCommand(serveCommand(context))
  program.addCommand(guardCommand(context))
  program.addCommand(planCommand(context))
  program.addCommand(pluginCommand(context))
  program.addCommand(runsCommand(context))
  program.addCommand(boundaryCommand(context))
  program.addCommand(doctorCommand(context))
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
