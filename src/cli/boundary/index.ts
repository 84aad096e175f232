import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { inspectCommand } from './inspect.ts'
import { recordCommand } from './record.ts'
import { replayCommand } from './replay.ts'
import { serveCommand } from './serve.ts'

/** `gantry boundary`: the loopback server between a program and its model, by itself. */
export function boundaryCommand(context: CliContext): Command {
  const command = new Command('boundary').description(
    'Stand between any program and its model: script it, record and replay it, meter it, break it.',
  )
  for (const create of [serveCommand, recordCommand, replayCommand, inspectCommand])
    command.addCommand(create(context))
  return command
}
