import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { personsNote } from './persons-note.ts'

export function waiveCommand(context: CliContext): Command {
  return new Command('waive')
    .description(
      'Let the work be called done without evidence, for the files as they are. Asks a person at a terminal.',
    )
    .requiredOption('--reason <text>', 'why; it is kept in the ledger')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly reason: string; readonly root?: string }) => {
      const { waive } = await import('../../guard/unlock/unlock.ts')
      const { treeFingerprint } = await import('../../guard-engine/facts/tree-fingerprint.ts')
      const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
      const { readSettings } = await import('../../guard-engine/settings/read-settings.ts')
      const request = await personsNote(context, flags.root)
      const { root } = request
      const { settings } = await readSettings({ root, env: context.env, userDir: guardHome(context.env) })
      const { tree } = await waive({
        ...request,
        reason: flags.reason,
        fingerprint: () => treeFingerprint(root, settings.state.dir),
      })
      context.stdout.write(`Waived for tree ${tree.slice(0, 12)}. Any change of a file ends the waiver.\n`)
    })
}
