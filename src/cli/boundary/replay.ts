import { resolve } from 'node:path'
import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'
import { type BoundaryFlags, withBoundaryFlags } from './boundary-flags.ts'

export function replayCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('replay'))
    .description('Answer from a cassette. A call it does not know ends the session with a diff.')
    .requiredOption('--from <dir>', 'directory of the cassette')
    .option('--auto', 'ask the provider for what the cassette does not know, and add it')
    .action(
      async (
        command: string[],
        flags: BoundaryFlags & { readonly from: string; readonly auto?: boolean },
      ) => {
        if (flags.maxCostUsd !== undefined && flags.auto !== true)
          throw new GantryError('USAGE', 'a replay costs nothing, so that --max-cost-usd means nothing', {
            hint: 'Leave it out, or let --auto ask a provider.',
          })
        const { runBoundary } = await import('./run-boundary.ts')
        const { sourceOf } = await import('./source-of.ts')
        const model = {
          source: sourceOf(undefined, context),
          replay: flags.auto === true ? ('auto' as const) : ('strict' as const),
        }
        await runBoundary({ command, flags, model, cassette: resolve(context.cwd, flags.from) }, context)
      },
    )
}
