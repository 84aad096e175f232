import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { flagCommand } from './flag-command.ts'

export function pinCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'pin',
    description: 'Keep a run from being cleaned.',
    flag: 'pinned',
    on: true,
    outcome: 'is pinned: it stays until it is unpinned',
  })
}
