import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { flagCommand } from './flag-command.ts'

export function unblessCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'unbless',
    description: 'Take the blessing of a run back.',
    flag: 'blessed',
    on: false,
    outcome: 'is not blessed',
  })
}
