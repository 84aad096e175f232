import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { type BoundaryFlags, withBoundaryFlags } from './boundary-flags.ts'

export function serveCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('serve'))
    .description('Answer from a script, or pass calls on to their providers, metered.')
    .option('--script <file>', 'answer from this script; without it the providers answer')
    .action(async (command: string[], flags: BoundaryFlags & { readonly script?: string }) => {
      const { runBoundary } = await import('./run-boundary.ts')
      const { sourceOf } = await import('./source-of.ts')
      await runBoundary(
        { command, flags, model: { source: sourceOf(flags.script, context), replay: 'off' }, cassette: '' },
        context,
      )
    })
}
