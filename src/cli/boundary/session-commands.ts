import { resolve } from 'node:path'
import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'
import { port, repeated, usd, wholeNumber } from '../flag-values.ts'
import type { BoundaryFlags } from './run-boundary.ts'

export function withBoundaryFlags(command: Command): Command {
  return command
    .showHelpAfterError('(what belongs to the program stands behind --; add --help to see what is possible)')
    .argument(
      '[command...]',
      'a program to run with its model at the boundary; behind -- when it has flags. Without one: serve until Ctrl-C',
    )
    .option('--port <n>', 'a fixed port on 127.0.0.1 (default: any free one)', port)
    .option('--fault <fault>', 'break calls: 429@0, 529%20, cut@2:3, slow:500; repeatable', repeated)
    .option('--seed <n>', 'of the faults with a probability', wholeNumber)
    .option('--max-cost-usd <usd>', 'refuse calls once this much is spent; the exit code is then 1', usd)
    .option(
      '--config <file>',
      'configuration file whose prices hold, instead of the gantry.yaml found upward',
    )
    .option(
      '--json',
      'print one JSON object per line, and nothing else, on standard output; that of the program goes to standard error',
    )
}

export function serveCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('serve'))
    .description('Answer from a script, or pass calls on to their providers, metered.')
    .option('--script <file>', 'answer from this script; without it the providers answer')
    .action(async (command: string[], flags: BoundaryFlags & { readonly script?: string }) => {
      const { runBoundary } = await import('./run-boundary.ts')
      const { sourceOf } = await import('./run-boundary.ts')
      await runBoundary(
        { command, flags, model: { source: sourceOf(flags.script, context), replay: 'off' }, cassette: '' },
        context,
      )
    })
}

export function recordCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('record'))
    .description('Pass calls on to their providers and keep every exchange in a cassette.')
    .requiredOption('--to <dir>', 'directory of the cassette; one that is there is replaced at the end')
    .option('--script <file>', 'let this script answer instead of the providers')
    .action(
      async (command: string[], flags: BoundaryFlags & { readonly to: string; readonly script?: string }) => {
        const { runBoundary } = await import('./run-boundary.ts')
        const { sourceOf } = await import('./run-boundary.ts')
        const model = { source: sourceOf(flags.script, context), replay: 'record' as const }
        await runBoundary({ command, flags, model, cassette: resolve(context.cwd, flags.to) }, context)
      },
    )
}

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
        const { sourceOf } = await import('./run-boundary.ts')
        const model = {
          source: sourceOf(undefined, context),
          replay: flags.auto === true ? ('auto' as const) : ('strict' as const),
        }
        await runBoundary({ command, flags, model, cassette: resolve(context.cwd, flags.from) }, context)
      },
    )
}
