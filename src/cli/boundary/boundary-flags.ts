import type { Command } from 'commander'
import { port, repeated, usd, wholeNumber } from '../flag-values.ts'

/** Flags that every command with a running boundary has. */
export interface BoundaryFlags {
  readonly port?: number
  readonly fault?: string[]
  readonly seed?: number
  readonly maxCostUsd?: number
  readonly config?: string
  readonly json?: boolean
}

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
