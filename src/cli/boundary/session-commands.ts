import { resolve } from 'node:path'
import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'
import { port, repeated, usd, wholeNumber } from '../flag-values.ts'
import type { BoundaryFlags } from './run-boundary.ts'

function withBoundaryFlags(command: Command): Command {
  return command
    .showHelpAfterError('(put the flags of the program after --; add --help to see the usage)')
    .argument(
      '[command...]',
      'a program to run with its model at the boundary; after -- when it has flags (default: serve until Ctrl-C)',
    )
    .option('--port <n>', 'a fixed port on 127.0.0.1 (default: any free one)', port)
    .option('--fault <fault>', 'break calls: 429@0, 529%20, cut@2:3, slow:500; repeatable', repeated)
    .option('--seed <n>', 'seed of the faults with a probability', wholeNumber)
    .option('--max-cost-usd <usd>', 'refuse calls once this much is spent, and exit with 1', usd)
    .option('--config <file>', 'configuration file with the prices, instead of the gantry.yaml found upward')
    .option(
      '--json',
      'print one JSON object per line, and nothing else, on standard output; that of the program goes to standard error',
    )
}

export function serveCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('serve'))
    .description('Answer from a script, or forward calls to their providers and meter them.')
    .option('--script <file>', 'answer from this script (default: the providers answer)')
    .action(async (command: string[], flags: BoundaryFlags & { readonly script?: string }) => {
      const { runBoundary } = await import('./run-boundary.ts')
      await runBoundary({ command, flags, script: flags.script, replay: 'off', cassette: '' }, context)
    })
}

export function recordCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('record'))
    .description('Forward calls to their providers and record every exchange in a cassette.')
    .requiredOption('--to <dir>', 'directory of the cassette; an existing one is replaced at the end')
    .option('--script <file>', 'answer from this script instead of the providers')
    .action(
      async (command: string[], flags: BoundaryFlags & { readonly to: string; readonly script?: string }) => {
        const { runBoundary } = await import('./run-boundary.ts')
        const cassette = resolve(context.cwd, flags.to)
        await runBoundary({ command, flags, script: flags.script, replay: 'record', cassette }, context)
      },
    )
}

export function replayCommand(context: CliContext): Command {
  return withBoundaryFlags(new Command('replay'))
    .description('Answer from a cassette. A call that is not in it ends the session with a diff.')
    .requiredOption('--from <dir>', 'directory of the cassette')
    .option('--auto', 'forward calls that are not in the cassette to the provider, and add them')
    .action(
      async (
        command: string[],
        flags: BoundaryFlags & { readonly from: string; readonly auto?: boolean },
      ) => {
        if (flags.maxCostUsd !== undefined && flags.auto !== true)
          throw new GantryError('USAGE', 'a replay costs nothing, so --max-cost-usd has no effect', {
            hint: 'Remove it, or add --auto to call a provider.',
          })
        const { runBoundary } = await import('./run-boundary.ts')
        const replay = flags.auto === true ? 'auto' : 'strict'
        const cassette = resolve(context.cwd, flags.from)
        await runBoundary({ command, flags, script: undefined, replay, cassette }, context)
      },
    )
}
