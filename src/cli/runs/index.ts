import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { cleanCommand } from './clean.ts'
import { exportCommand } from './export.ts'
import { flagCommands } from './flag-commands.ts'
import { listCommand } from './list.ts'
import { followCommand, mergeCommand } from './merge.ts'
import { regradeCommand } from './regrade.ts'
import { reindexCommand } from './reindex.ts'
import { reportCommand } from './report.ts'
import { showCommand } from './show.ts'

export function runsCommand(context: CliContext): Command {
  const command = new Command('runs')
  for (const create of [
    listCommand,
    showCommand,
    reportCommand,
    mergeCommand,
    followCommand,
    regradeCommand,
    exportCommand,
    cleanCommand,
  ])
    command.addCommand(create(context))
  for (const flag of flagCommands(context)) command.addCommand(flag)
  return command.addCommand(reindexCommand(context))
}
