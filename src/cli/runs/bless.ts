import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { flagCommand } from './flag-command.ts'

export function blessCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'bless',
    description: 'Make a run the one that later runs are compared with, and keep it from being cleaned.',
    flag: 'blessed',
    on: true,
    outcome: "is blessed: '--baseline blessed' means the newest such run",
  })
}
