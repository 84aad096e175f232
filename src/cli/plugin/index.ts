import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { pluginAnalyzeCommand } from './analyze.ts'
import { pluginHooksCommand } from './hooks.ts'
import { pluginInitCommand } from './init.ts'
import { pluginListCommand } from './list.ts'
import { pluginReportCommand } from './report.ts'
import {
  pluginEvaluateCommand,
  pluginExecuteCommand,
  pluginGenerateCommand,
  pluginResumeCommand,
  pluginRunCommand,
} from './run-commands.ts'

/** `gantry plugin`: does each component of a Claude Code plugin fire when it should, and only then? */
export function pluginCommand(context: CliContext): Command {
  const command = new Command('plugin')
  for (const create of [
    pluginRunCommand,
    pluginAnalyzeCommand,
    pluginHooksCommand,
    pluginGenerateCommand,
    pluginInitCommand,
    pluginExecuteCommand,
    pluginEvaluateCommand,
    pluginResumeCommand,
    pluginReportCommand,
    pluginListCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
