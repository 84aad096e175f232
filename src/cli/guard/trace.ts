import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import type { TraceFlags, TraceSources } from './show-trace.ts'

/** `given` knows where a trace and the sessions' ledgers are; without it they are those of the project around. */
export function traceCommand(context: CliContext, given?: TraceSources): Command {
  return new Command('trace')
    .description(
      'Report what a guarded agent did: calls, hot files, loops, verification runs, failures, time, refusals.',
    )
    .argument('[file]', "a trace log or a ledger; default: the project's .harness/trace-log.jsonl")
    .option('--session <id>', "read the ledger of a session; 'latest' is the newest of this project")
    .option('--since <when>', 'only what is newer: an age such as 90m or 2d, or a date')
    .option('--html <file>', 'write the report as one page with a timeline')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (file: string | undefined, flags: TraceFlags) => {
      const { showTrace } = await import('./show-trace.ts')
      const sources = given ?? (await import('./trace-sources.ts')).traceSources
      await showTrace(file, flags, sources, context)
    })
}
