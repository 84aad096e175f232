import { resolve } from 'node:path'
import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { type BoundaryFlags, withBoundaryFlags } from './boundary-flags.ts'

export function recordCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('record'))
    .description('Pass calls on to their providers and keep every exchange in a cassette.')
    .requiredOption('--to <dir>', 'directory of the cassette; one that is there is replaced at the end')
    .option('--script <file>', 'let this script answer instead of the providers')
    .action(
      async (command: string[], flags: BoundaryFlags & { readonly to: string; readonly script?: string }) => {
        const { runBoundary } = await import('./run-boundary.ts')
        const { sourceOf } = await import('./source-of.ts')
        const model = { source: sourceOf(flags.script, context), replay: 'record' as const }
        await runBoundary({ command, flags, model, cassette: resolve(context.cwd, flags.to) }, context)
      },
    )
}
