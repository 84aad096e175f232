import { Command } from 'commander'
import { counted } from '../../core/counted.ts'
import type { CliContext } from '../context.ts'
import { personsNote } from './persons-note.ts'

export function sealCommand(context: CliContext): Command {
  return new Command('seal')
    .description('Accept the files that steer the guard as they are now. Asks a person at a terminal.')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .action(async (flags: { readonly root?: string }) => {
      const { ownPlace } = await import('../../guard-install/own-place.ts')
      const { reseal } = await import('../../guard/unlock/unlock.ts')
      const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
      const { currentSeal } = await import('../../guard-engine/seal/seal-files.ts')
      const { sealedPaths } = await import('../../guard-engine/seal/own-paths.ts')
      const request = await personsNote(context, flags.root)
      const { changed } = await reseal({
        ...request,
        paths: sealedPaths(ownPlace(request.root, context.env)),
        sealed: currentSeal(guardHome(context.env), request.root),
      })
      context.stdout.write(
        `Sealed${changed.length === 0 ? '' : `, ${counted(changed.length, 'changed file')} accepted`}.\n`,
      )
    })
}
