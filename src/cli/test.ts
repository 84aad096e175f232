import { Command, Option } from 'commander'
import { judgeBatchModes } from '../scenario/judge-batch.ts'
import { failOnOption, marginOption } from './compare.ts'
import type { CliContext } from './context.ts'
import {
  count,
  duration,
  durationOrNone,
  list,
  names,
  repeated,
  replayOption,
  reporterOption,
  share,
  usd,
  wholeNumber,
} from './flag-values.ts'
import { blobsOption } from './queue.ts'
import type { TestFlags } from './run-test.ts'

export function testCommand(context: CliContext): Command {
  return new Command('test')
    .argument('[path...]', 'scenario files, directories, globs or names (default: those of gantry.yaml)')
    .optionsGroup('Selection:')
    .option('-s, --scenario <name>', 'a scenario by file or name; the same as naming it', repeated)
    .option(
      '--filter <glob>',
      'only scenarios whose name matches: a word, a glob, or /regular expression/',
      repeated,
    )
    .option('--tag <tag>', 'only scenarios with any of these tags', list)
    .option('--all-tags', 'require every --tag instead of any of them')
    .option('--tier <n>', 'only scenarios up to this tier (0 smoke … 3 comprehensive)', wholeNumber)
    .option(
      '--shard <i/n>',
      'run only the i-th of n parts of the cases, with all their agents and attempts; see `gantry runs merge`',
    )
    .option('--repeat <n>', 'attempts per scenario, agent and model', count)
    .option('--until-decided', 'with --arms: repeat until every comparison is decided')
    .option('--max-repeat <n>', 'attempts at which --until-decided gives up (default 20)', count)
    .option('--rerun-failed [run]', 'only the trials that did not pass in a run (default: the latest)')
    .option('--resume <run>', 'continue a run that was stopped')
    .optionsGroup('Agents and models:')
    .option('-a, --agent <name>', 'an agent of gantry.yaml, or scripted:PATH; repeatable', list)
    .option('-m, --model <name>', 'a model to run every agent with; repeatable', list)
    .option('--arms <names>', 'arms of gantry.yaml, each compared with the first', names)
    .option('--profile <name>', 'use the agents and models of a profile of gantry.yaml')
    .option('--target-binary <path>', 'use this tool under test instead of the one in the scenario')
    .option('--judge-model <name>', 'provider:model of the judge (else GANTRY_JUDGE_MODEL)')
    .addOption(
      new Option(
        '--judge-batch <when>',
        'call the judge in batches at half the price: auto (from 50 calls on, the default), always, never',
      ).choices(judgeBatchModes),
    )
    .option('--no-judge', 'do not run the judge')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .optionsGroup('Execution:')
    .option('-j, --concurrency <n>', 'trials at a time', count)
    .option(
      '--queue <address>',
      'let workers of a queue run the trials: postgres://… or sqlite:FILE; see `gantry work`',
    )
    .addOption(blobsOption())
    .option('--worker-label <label>', 'with --queue: only workers that have this --label; repeatable', list)
    .option('--worker-memory <mb>', 'with --queue: only workers with this much memory, in megabytes', count)
    .option('--any-agent-version', 'with --queue: allow workers with other versions of the agents')
    .addOption(
      new Option(
        '--priority <kind>',
        'with --queue: interactive runs come first (default: interactive at a terminal)',
      ).choices(['interactive', 'batch']),
    )
    .option('--timeout <duration>', 'time limit of the agent in one trial, for example 90s', duration)
    .option('--max-cost-usd <usd>', 'stop when the run has cost this much', usd)
    .option('--max-time <duration>', 'start no trial after this time', duration)
    .option('--max-pause <duration>', 'how long one trial may wait for a rate limit', durationOrNone)
    .option(
      '--infra-retries <n>',
      'how often to repeat a trial that failed for infrastructure reasons',
      wholeNumber,
    )
    .addOption(replayOption())
    .option('--cassettes <dir>', 'where recorded traffic is (default: cassettes_path of gantry.yaml)')
    .option(
      '--fault <fault>',
      'break calls to the model: 429@0, 529%20, cut@2:3, slow:500; repeatable',
      repeated,
    )
    .option('--no-cache', 'run every trial instead of reusing stored results')
    .option(
      '--seed <n>',
      'seed of a comparison, of the order of arms, of faults with a probability, and of GANTRY_SEED',
      wholeNumber,
    )
    .option('--watch', 'run again when a scenario, template or configuration changes')
    .optionsGroup('Output:')
    .option('--plan', 'show trials, cost, time and precision without running anything')
    .addOption(new Option('--dry-run', 'the same as --plan'))
    .option('--json', 'print one JSON document and nothing else on standard output')
    .addOption(reporterOption())
    .option(
      '--baseline <run>',
      "list regressions against a run ('latest', 'blessed', an id) or a baseline file",
    )
    .option(
      '--against <run>',
      'end with a comparison, as `gantry compare` makes it; it decides the exit code',
    )
    .addOption(marginOption())
    .addOption(failOnOption())
    .option('--threshold <share>', 'pass rate that every case must reach (default 1)', share)
    .option(
      '--max-infra-rate <share>',
      'share of infrastructure failures above which the run is infra (default 0.05)',
      share,
    )
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .action(async (paths: string[], flags: TestFlags) => {
      const { runTest } = await import('./run-test.ts')
      await runTest(paths, flags, context)
    })
}
