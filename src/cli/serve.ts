import { Command, Option } from 'commander'
import type { CliContext } from './context.ts'
import { count, port, repeated } from './flag-values.ts'
import { blobsOption } from './queue.ts'
import type { ServeFlags } from './serve-tasks.ts'

export function serveCommand(context: CliContext): Command {
  return new Command('serve')
    .optionsGroup('Where:')
    .option('--host <address>', 'address to listen on; other than loopback needs your own token', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 chooses a free one', port, 7777)
    .option(
      '--allow-host <name>',
      'another accepted Host header, for example behind a proxy; repeatable',
      repeated,
    )
    .optionsGroup('What:')
    .option(
      '--repository <dir>',
      'a repository to serve; repeatable (default: the one around the working directory)',
      repeated,
    )
    .option('--parallel <n>', 'tasks of one repository at the same time, at most 4', count, 1)
    .option('--host-sandbox', 'allow tasks that are verified without a sandbox (sandbox: host)')
    .option(
      '--queue <address>',
      'let workers of a queue do the tasks: postgres://… or sqlite:FILE; see `gantry work`',
    )
    .addOption(blobsOption())
    .option('--token-file <file>', 'file with the bearer token (default: created once, kept in the store)')
    .optionsGroup('Output:')
    .addOption(
      new Option('--log <format>', 'format of the request log on standard error')
        .choices(['text', 'json', 'none'])
        .default('text'),
    )
    .option('--json', 'print the address as JSON and nothing else on standard output')
    .addHelpText(
      'after',
      '\nEvery request but GET /health needs the header Authorization: Bearer TOKEN. The token can also be set with GANTRY_SERVE_TOKEN.',
    )
    .action(async (flags: ServeFlags) => {
      const { serveTasks } = await import('./serve-tasks.ts')
      await serveTasks(flags, context)
    })
}
