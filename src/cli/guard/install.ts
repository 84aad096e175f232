import { Command, Option } from 'commander'
import type { CliContext } from '../context.ts'
import { agentNames, type HookFlags } from './hook-flags.ts'

export function installCommand(context: CliContext): Command {
  return new Command('install')
    .description('Install the guard into the hooks of coding agents. Other hooks stay.')
    .argument('[dir]', 'with --scope plugin: the directory the plugin is written to')
    .option('--agent <name>', 'only this agent; repeatable (default: those found here)', agentNames)
    .addOption(scopeOption())
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .addOption(
      new Option(
        '--enforce <layer>',
        'kernel: run commands with protected files read-only (Claude Code on Linux); notice: do not (default: as it was)',
      ).choices(['notice', 'kernel']),
    )
    .option('--dry-run', 'show what would change without changing it')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      `
Agents: claude-code, codex, gemini, copilot, cursor, opencode.
The hooks start the Node that runs this command, by its path, so the files they stand in are for this machine.
For Claude Code that is .claude/settings.local.json, which is not meant to be committed. 'gantry guard uninstall' removes all of it.`,
    )
    .action(async (dir: string | undefined, flags: HookFlags) => {
      const { runInstall } = await import('./run-install.ts')
      await runInstall(context, flags, dir)
    })
}

export function uninstallCommand(context: CliContext): Command {
  return new Command('uninstall')
    .description('Remove the guard from the hooks of coding agents. Only a person may do this.')
    .argument('[dir]', 'with --scope plugin: the directory the plugin was written to')
    .option('--agent <name>', 'only this agent; repeatable (default: all)', agentNames)
    .addOption(scopeOption())
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--dry-run', 'show what would change without changing it')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (dir: string | undefined, flags: HookFlags) => {
      const { runUninstall } = await import('./run-install.ts')
      await runUninstall(context, flags, dir)
    })
}

function scopeOption(): Option {
  return new Option(
    '--scope <scope>',
    'whose hooks: of the project, of the user, or a plugin for Claude Code',
  )
    .choices(['project', 'user', 'plugin'])
    .default('project')
}
