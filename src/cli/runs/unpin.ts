import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { flagCommand } from './flag-command.ts'

export function unpinCommand(context: CliContext): Command {
  return flagCommand(context, {
    name: 'unpin',
    description: 'Let a pinned run be cleaned again.',
    flag: 'pinned',
    on: false,
    outcome: 'is not pinned: it is cleaned when its time comes',
  })
}
