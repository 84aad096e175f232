import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { inspectCommand } from './inspect.ts'
import { recordCommand, replayCommand, serveCommand } from './session-commands.ts'

/** `gantry boundary`: the loopback server between a program and its model, as a command. */
export function boundaryCommand(context: CliContext): Command {
  const command = new Command('boundary')
  for (const create of [serveCommand, recordCommand, replayCommand, inspectCommand])
    command.addCommand(create(context))
  return command
}
