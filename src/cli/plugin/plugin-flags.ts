import { type Command, Option } from 'commander'
import { type ReplayMode, replayModes } from '../../models/boundary/model-link.ts'
import { type Arm, arms, type PluginStage } from '../../plugin/contract.ts'
import { count, duration, list, repeated, share, usd } from '../flag-values.ts'

/** Flags shared by the commands that begin an evaluation, as commander hands them over. Absent: file or default decides. */
export interface PluginFlags {
  readonly plugin?: string
  readonly config?: string
  readonly marketplace?: string
  readonly all?: boolean
  readonly scope?: string[]
  readonly scenarios?: string[]
  readonly cases: boolean
  readonly filter?: string[]
  readonly fast?: boolean
  readonly failedRun?: string
  readonly agent?: string
  readonly model?: string
  readonly generationModel?: string
  readonly judgeModel?: string
  readonly withPlugins?: string[]
  readonly arms?: Arm[]
  readonly reps?: number
  readonly samples?: number
  readonly semantic?: boolean
  readonly isolated?: boolean
  readonly rewind?: boolean
  readonly scaffold?: boolean
  readonly allowHttp?: boolean
  readonly batch: boolean
  readonly concurrency?: number
  readonly timeout?: number
  readonly maxCostUsd?: number
  readonly replay?: ReplayMode
  readonly cassettes?: string
  readonly dryRun?: boolean
  readonly estimate?: boolean
  readonly writeCases?: string | boolean
  readonly output?: string[]
  readonly reporter?: string[]
  readonly json?: boolean
  readonly progress?: ProgressMode
  readonly threshold?: number
  readonly strict?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
}

export const progressModes = ['auto', 'plain', 'jsonl', 'none'] as const
export type ProgressMode = (typeof progressModes)[number]

export const scopes = ['skills', 'agents', 'commands', 'hooks', 'mcp_servers'] as const

/** Which plugin, and where its settings are. */
export function withTargetFlags(command: Command): Command {
  return command
    .argument('[plugin]', 'directory of the plugin')
    .optionsGroup('Which plugin:')
    .option(
      '-p, --plugin <path>',
      'the same as the argument; with --marketplace also the name of one of its plugins',
    )
    .option(
      '-c, --config <file>',
      'settings of the evaluation (default: plugin: of the gantry.yaml found upward)',
    )
    .option('--marketplace <path>', 'a marketplace; its other plugins are the crowd')
    .option('--all', 'evaluate every plugin of the marketplace, one after the other')
}

/** What is tried, from the second stage on. */
export function withScenarioFlags(command: Command): Command {
  return command
    .optionsGroup('What to try:')
    .addOption(new Option('--scope <types>', `types of components: ${scopes.join(', ')}`).argParser(list))
    .option('--scenarios <file>', 'a file with scenarios of your own; repeatable', repeated)
    .option('--no-cases', "leave the cases in the plugin's evals/ out")
    .option('--filter <text>', 'only scenarios with this in their id; repeatable', repeated)
    .option('--semantic', 'also scenarios that rephrase the request')
    .option('--no-semantic', 'no rephrased scenarios')
    .option('--generation-model <name>', 'provider:model that writes scenarios')
    .option('--reps <n>', 'how often each scenario is tried', count)
    .option('--fast', 'only the scenarios that failed in the run of --failed-run, as they were')
    .option('--failed-run <run>', 'the run whose failures are tried again')
}

/** How it is run, from the third stage on. */
export function withExecutionFlags(command: Command): Command {
  return command
    .optionsGroup('How:')
    .option(
      '-a, --agent <name>',
      'an agent of gantry.yaml whose driver is claude-code (default: claude-code)',
    )
    .option('-m, --model <name>', 'model of the agent')
    .option('--with-plugins <paths>', 'further plugins, for the arm crowd', list)
    .addOption(
      new Option('--arms <arms>', `which other plugins are loaded: ${arms.join(', ')}`).argParser(
        (value: string) => list(value),
      ),
    )
    .option('--isolated', 'a fresh session for every scenario instead of one per component')
    .option('--rewind', "put files back by Claude Code's own rewind after each scenario")
    .option('--scaffold', 'allow scaffold scripts of cases to run')
    .option('-j, --concurrency <n>', 'sessions at a time', count)
    .option('--timeout <duration>', 'time limit of one scenario, for example 90s', duration)
    .option('--max-cost-usd <usd>', 'stop when the run has cost this much', usd)
    .addOption(
      new Option(
        '--replay <mode>',
        'of the traffic with models: off, record, strict (only what was recorded), auto (record what is missing)',
      ).choices(replayModes),
    )
    .option('--cassettes <dir>', 'where recorded traffic is (default: evals/cassettes of the plugin)')
}

/** How it is judged. */
export function withEvaluationFlags(command: Command): Command {
  return command
    .optionsGroup('Judging:')
    .option('--judge-model <name>', 'provider:model of the judge')
    .option('--samples <n>', 'judges per scenario', count)
    .option('--no-batch', 'never ask the judge in batches')
    .option('--threshold <share>', 'pass rate every scenario must reach (default 1)', share)
}

/** What comes out. */
export function withOutputFlags(command: Command): Command {
  return command
    .optionsGroup('What comes out:')
    .option('-o, --output <format[:path]>', 'json, yaml, junit-xml, tap, md or html; repeatable', repeated)
    .option('--reporter <name[:path]>', 'console, junit, tap, md, html or github; repeatable', repeated)
    .option('--json', 'print the evaluation as JSON and nothing else on standard output')
    .addOption(
      new Option('--progress <how>', 'progress output: auto, plain, jsonl (on standard error), none').choices(
        progressModes,
      ),
    )
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .option('-v, --verbose', 'a line for every scenario')
    .option('--debug', 'keep the homes and workspaces of the agents, and print where they are')
}

/** Stops before money is spent. */
export function withDryRunFlags(command: Command): Command {
  return command
    .addOption(new Option('--dry-run', 'show the components and what it would cost, and stop'))
    .addOption(new Option('--dr', 'the same as --dry-run').hideHelp())
    .option('--estimate', 'print the estimate before the work begins')
    .addOption(new Option('--est', 'the same as --estimate').hideHelp())
}

export interface ResumeFlags extends PluginFlags {
  readonly runId?: string
  readonly fromStage?: PluginStage
}
