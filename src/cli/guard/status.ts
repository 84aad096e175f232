import { Command } from 'commander'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'
import { agentNames } from './hook-flags.ts'

interface StatusFlags {
  readonly agent?: readonly HookedAgent[]
  readonly root?: string
  readonly json?: boolean
}

export function statusCommand(context: CliContext): Command {
  return new Command('status')
    .description(
      'Show where the guard is installed, whether it is armed, and what each agent cannot enforce.',
    )
    .option('--agent <name>', 'only this agent; repeatable (default: all)', agentNames)
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText('after', '\nExit code 1 when the guard is installed for an agent and does not hold it.')
    .action(async (flags: StatusFlags) => {
      const { lookAtGuard } = await import('./look-at-guard.ts')
      const { isArmed } = await import('../../guard/status/guard-status.ts')
      const status = await lookAtGuard(context, flags)
      if (flags.json === true) context.stdout.write(`${JSON.stringify(jsonOf(status), null, 2)}\n`)
      else (await import('./print-status.ts')).printStatus(status, context)
      if (!isArmed(status.agents)) context.setExitCode(exitCode.failed)
    })
}

function jsonOf({
  root,
  node,
  hookBin,
  agents,
  viewsProblem,
}: import('./look-at-guard.ts').GuardView): object {
  return {
    root,
    node,
    hook_bin: hookBin,
    views_problem: viewsProblem,
    agents: agents.map(({ lastEvent, ...agent }) => ({ ...agent, last_event: lastEvent })),
  }
}
