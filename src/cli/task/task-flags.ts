import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { isDirectory } from '../../io/path-kind.ts'
import { sandboxNames } from '../../sandboxes/contract.ts'
import type { TaskOptions } from '../../task/worker/submit-task.ts'
import { findRepository } from '../../verifier/find-repository.ts'
import type { CliContext } from '../context.ts'
import { duration, usd } from '../flag-values.ts'

/** Flags of whatever makes a task. */
export interface TaskFlags {
  readonly agent?: string
  readonly model?: string
  readonly agentModel?: string
  readonly sandbox?: TaskOptions['sandbox']
  readonly root?: string
  readonly config?: string
  readonly maxCostUsd?: number
  readonly timeout?: number
  readonly dryRun?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

export function withTaskFlags(command: Command): Command {
  return command
    .optionsGroup('With what:')
    .option('-a, --agent <name>', 'the Editor: an agent of gantry.yaml or a driver (default: builtin)')
    .option(
      '-m, --model <provider:model>',
      'the model of the Scouts and of the builtin agent (default: by the environment)',
    )
    .option('--agent-model <name>', 'the model of an agent that has its own names for them')
    .addOption(
      new Option(
        '--sandbox <engine>',
        'where the verification runs (default: docker, else bubblewrap)',
      ).choices(['auto', ...sandboxNames]),
    )
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .optionsGroup('How far:')
    .option('--max-cost-usd <usd>', 'stop when Scouts and Editor together have cost this much', usd)
    .option('--timeout <duration>', 'time limit of one turn of the Editor (default: 30m)', duration)
}

/**
 * The repository a command is about, by its real path, as `gantry verify` finds it: the queue knows it by that. A place that is no
 * directory is told with everything else that is wrong.
 */
export function repositoryOf({ cwd }: CliContext, { root }: Pick<TaskFlags, 'root'>): string {
  const directory = resolve(cwd, root ?? '.')
  return isDirectory(directory) ? findRepository(directory) : directory
}

export function taskOptions({ cwd }: CliContext, flags: TaskFlags): Partial<TaskOptions> {
  const { agent, model, agentModel, sandbox, config, maxCostUsd, timeout } = flags
  return {
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(agentModel !== undefined && { agent_model: agentModel }),
    ...(sandbox !== undefined && { sandbox }),
    ...(config !== undefined && { config_file: resolve(cwd, config) }),
    ...(maxCostUsd !== undefined && { max_cost_usd: maxCostUsd }),
    ...(timeout !== undefined && { edit_timeout_ms: timeout }),
  }
}
