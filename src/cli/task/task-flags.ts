import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { isDirectory } from '../../io/path-kind.ts'
import { sandboxNames } from '../../sandboxes/contract.ts'
import type { TaskOptions } from '../../task/worker/submit-task.ts'
import { findRepository } from '../../verifier/find-repository.ts'
import type { CliContext } from '../context.ts'
import { duration, usd } from '../flag-values.ts'
import { blobsOption } from '../queue.ts'

export interface TaskFlags {
  readonly agent?: string
  readonly model?: string
  readonly agentModel?: string
  readonly sandbox?: TaskOptions['sandbox']
  readonly root?: string
  readonly config?: string
  readonly maxCostUsd?: number
  readonly timeout?: number
  readonly questions?: number
  readonly dryRun?: boolean
  readonly here?: boolean
  readonly withChanges?: boolean
  readonly apply?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
  readonly queue?: string
  readonly blobs?: string
}

export function withTaskFlags(command: Command): Command {
  return command
    .optionsGroup('Agents and models:')
    .option('-a, --agent <name>', 'the Editor: an agent of gantry.yaml or a driver (default: builtin)')
    .option(
      '-m, --model <provider:model>',
      'the model of the Scouts and of the builtin agent (default: by the environment)',
    )
    .option('--agent-model <name>', 'the model of an agent that has its own names for them')
    .addOption(sandboxOption('docker, else bubblewrap'))
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .optionsGroup('Tree:')
    .addOption(
      new Option('--here', 'work in your tree instead of one of its own').conflicts([
        'withChanges',
        'apply',
        'dryRun',
        'queue',
      ]),
    )
    .option('--with-changes', 'start from your uncommitted changes too, not only from the last commit')
    .addOption(new Option('--apply', 'write the verified change into your tree').conflicts('dryRun'))
    .optionsGroup('Many machines:')
    .option(
      '--queue <address>',
      'let a worker of a queue do the task: postgres://… or sqlite:FILE; see `gantry work`',
    )
    .addOption(blobsOption())
    .optionsGroup('Limits:')
    .option('--max-cost-usd <usd>', 'stop when Scouts and Editor together have cost this much', usd)
    .option(
      '--questions <duration>',
      'let the Editor ask you, and wait this long for gantry task tell (default: it decides alone)',
      duration,
    )
    .option('--timeout <duration>', 'time limit of one turn of the Editor (default: 30m)', duration)
}

export function sandboxOption(fallback: string): Option {
  const text = `where the verification runs (default: ${fallback})`
  return new Option('--sandbox <engine>', text).choices(['auto', ...sandboxNames])
}

/**
 * The real path of the repository a command is about, found as `gantry verify` finds it. A path that is not a directory is returned
 * unchanged: the check of the task reports it together with its other problems.
 */
export function repositoryOf({ cwd }: CliContext, { root }: Pick<TaskFlags, 'root'>): string {
  const directory = resolve(cwd, root ?? '.')
  return isDirectory(directory) ? findRepository(directory) : directory
}

export const taskExitCodes =
  'Exit codes: 0 verified, also the proposal of a dry run · 1 stuck, weakened checks, no change, a proposal that fails, or a change that your tree did not take · 2 bad usage · 3 infrastructure · 130 cancelled or interrupted'

/** Shown below the error when the task text is missing. */
export function taskExamples(command: 'run' | 'submit'): string {
  return `Examples:
  gantry task ${command} "parseDuration must also accept several units, such as 1h30m."
  gantry task ${command} - < task.md`
}
