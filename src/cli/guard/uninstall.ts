import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { agentNames, type HookFlags } from './hook-flags.ts'
import { scopeOption } from './install.ts'

export function uninstallCommand(context: CliContext): Command {
  return new Command('uninstall')
    .description('Take the guard out of the hooks of coding agents. For a person, not for an agent.')
    .argument('[dir]', 'with --scope plugin: the directory the plugin was written to')
    .option('--agent <name>', 'only this agent; repeatable (default: all)', agentNames)
    .addOption(scopeOption())
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (dir: string | undefined, flags: HookFlags) => {
      const { runUninstall } = await import('./run-uninstall.ts')
      await runUninstall(context, flags, dir)
    })
}
