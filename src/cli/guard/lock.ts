import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { personsNote } from './persons-note.ts'

export function lockCommand(context: CliContext): Command {
  return new Command('lock')
    .description("End an unlock: the guard's own files are protected again.")
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly root?: string }) => {
      const { lock } = await import('../../guard/unlock/unlock.ts')
      const { append, root } = await personsNote(context, flags.root)
      lock({ append, by: context.env.USER ?? 'somebody' })
      context.stdout.write(`Self-protection holds in ${root}.\n`)
    })
}
