import { type Command, Option } from 'commander'
import type { ReplayMode } from '../../models/boundary/model-link.ts'
import type { PluginOverrides } from '../../plugin/config/overrides.ts'
import { arms, type PluginStage } from '../../plugin/contract.ts'
import { count, duration, list, repeated, replayOption, share, usd } from '../flag-values.ts'

/** Parsed flags of the commands that start an evaluation. Absent: the file or the default decides. */
export interface PluginFlags extends Omit<PluginOverrides, 'output' | 'timeoutMs'> {
  readonly config?: string
  readonly filter?: string[]
  readonly tag?: string[]
  readonly scaffold?: boolean
  readonly timeout?: number
  readonly replay?: ReplayMode
  readonly cassettes?: string
  readonly plan?: boolean
  readonly writeCases?: string | boolean
  readonly output?: string[]
  readonly reporter?: string[]
  readonly json?: boolean
  readonly progress?: ProgressMode
  readonly threshold?: number
  readonly strict?: boolean
}

const progressModes = ['auto', 'plain', 'jsonl', 'none'] as const
export type ProgressMode = (typeof progressModes)[number]

const scopes = ['skills', 'agents', 'commands', 'hooks', 'mcp_servers'] as const

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
      'settings of the evaluation (default: plugin: of the gantry.yaml found upward, else a config.yaml of cc-plugin-eval here)',
    )
    .option('--marketplace <path>', 'a marketplace; its other plugins are the crowd')
    .option('--all', 'evaluate every plugin of the marketplace, one after the other')
}

/** Flags that choose the scenarios, from the second stage on. */
export function withScenarioFlags(command: Command): Command {
  return command
    .optionsGroup('What to try:')
    .addOption(new Option('--scope <types>', `types of components: ${scopes.join(', ')}`).argParser(list))
    .option('--scenarios <file>', 'a file with your own scenarios; repeatable', repeated)
    .option('--no-cases', "skip the cases in the plugin's evals/")
    .option('--filter <text>', 'only scenarios with this text or glob in their id; repeatable', repeated)
    .option('--tag <tag>', 'only scenarios with this tag, or of this type; repeatable', repeated)
    .option('--semantic', 'also scenarios that rephrase the request')
    .option('--no-semantic', 'no rephrased scenarios')
    .option('--generation-model <name>', 'provider:model that writes scenarios')
    .option('--reps <n>', 'how often each scenario is run', count)
    .option('--fast', 'only the scenarios that failed in the run of --failed-run, unchanged')
    .option('--failed-run <run>', 'the run whose failures are repeated')
}

/** Flags of the execution, from the third stage on. */
export function withExecutionFlags(command: Command): Command {
  return command
    .optionsGroup('How:')
    .option(
      '-a, --agent <name>',
      'an agent of gantry.yaml whose driver is claude-code (default: claude-code)',
    )
    .option('-m, --model <name>', 'model of the agent')
    .option('--with-plugins <paths>', 'additional plugins, for the arm crowd', list)
    .addOption(
      new Option('--arms <arms>', `which other plugins are loaded: ${arms.join(', ')}`).argParser(
        (value: string) => list(value),
      ),
    )
    .option('--isolated', 'a fresh session for every scenario instead of one per component')
    .option('--rewind', "restore files with Claude Code's own rewind after each scenario")
    .option('--scaffold', 'allow scaffold scripts of cases to run')
    .option('-j, --concurrency <n>', 'sessions at a time', count)
    .option('--timeout <duration>', 'time limit of one scenario, for example 90s', duration)
    .option('--max-cost-usd <usd>', 'stop when the run has cost this much', usd)
    .addOption(replayOption())
    .option('--cassettes <dir>', 'where recorded traffic is (default: evals/cassettes of the plugin)')
}

export function withEvaluationFlags(command: Command): Command {
  return command
    .optionsGroup('Judging:')
    .option('--judge-model <name>', 'provider:model of the judge')
    .option('--samples <n>', 'judges per scenario', count)
    .option('--no-batch', 'never ask the judge in batches')
    .option('--threshold <share>', 'pass rate every scenario must reach (default 1)', share)
}

export function withOutputFlags(command: Command): Command {
  return command
    .optionsGroup('What comes out:')
    .option('-o, --output <format[:path]>', 'json, yaml, junit-xml, tap, md or html; repeatable', repeated)
    .option(
      '--reporter <name[:path]>',
      'console, junit, tap, md, html, github or a module such as ./reporter.js; repeatable',
      repeated,
    )
    .option('--json', 'print the evaluation as JSON and nothing else on standard output')
    .addOption(
      new Option('--progress <how>', 'progress output: auto, plain, jsonl (on standard error), none').choices(
        progressModes,
      ),
    )
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .option('-v, --verbose', 'a line for every scenario')
    .option(
      '--debug',
      'keep the homes and workspaces of the agents and print where they are; print the causes of an error',
    )
}

export function withDryRunFlags(command: Command): Command {
  return command
    .addOption(new Option('--dry-run', 'show the components and the estimated cost, and stop'))
    .option('--plan', 'the same as --dry-run')
    .addOption(new Option('--dr', 'the same as --dry-run').hideHelp())
    .option('--estimate', 'print the cost estimate before the run starts')
    .addOption(new Option('--est', 'the same as --estimate').hideHelp())
}

export interface ResumeFlags extends PluginFlags {
  readonly runId?: string
  readonly fromStage?: PluginStage
}
