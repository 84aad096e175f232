import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { duration } from '../flag-values.ts'
import { personsNote } from './persons-note.ts'

export function unlockCommand(context: CliContext): Command {
  return new Command('unlock')
    .description("Let agents change the guard's own files for a while. Asks a person at a terminal.")
    .option('--for <duration>', 'how long, at most 1h (default: 10m)', duration)
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly for?: number; readonly root?: string }) => {
      const { unlock } = await import('../../guard/unlock/unlock.ts')
      const request = await personsNote(context, flags.root)
      const { untilMs } = await unlock(flags.for === undefined ? request : { ...request, forMs: flags.for })
      context.stdout.write(
        `Unlocked until ${new Date(untilMs).toISOString()}. 'gantry guard lock' ends it sooner; 'gantry guard seal' accepts the files as they are then.\n`,
      )
    })
}
