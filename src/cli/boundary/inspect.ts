import { resolve } from 'node:path'
import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { wholeNumber } from '../flag-values.ts'

export function inspectCommand(context: CliContext): Command {
  return new Command('inspect')
    .description('Show what is in a cassette: every call, its answer, its tokens.')
    .argument('<dir>', 'directory of the cassette')
    .argument('[exchange]', 'number of one exchange, to see it whole', wholeNumber)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (dir: string, exchange: number | undefined, flags: { readonly json?: boolean }) => {
      const { readCassette } = await import('../../models/boundary/cassette/read-cassette.ts')
      const { printCassette, printExchange } = await import('./print-cassette.ts')
      const content = readCassette(resolve(context.cwd, dir))
      if (exchange !== undefined) return printExchange(content, exchange, flags.json === true, context)
      if (flags.json === true) context.stdout.write(`${JSON.stringify(content, null, 2)}\n`)
      else printCassette(content, context)
    })
}
