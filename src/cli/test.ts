import { Command, Option } from 'commander'
import { replayModes } from '../models/boundary/model-link.ts'
import { judgeBatchModes } from '../scenario/judge-batch.ts'
import type { CliContext } from './context.ts'
import { count, duration, durationOrNone, list, repeated, share, usd, wholeNumber } from './flag-values.ts'
import type { TestFlags } from './run-test.ts'

export function testCommand(context: CliContext): Command {
  return new Command('test')
    .argument('[path...]', 'scenario files, directories, globs or names (default: those of gantry.yaml)')
    .optionsGroup('What to run:')
    .option('-s, --scenario <name>', 'a scenario by file or name; the same as naming it', repeated)
    .option(
      '--filter <glob>',
      'only scenarios whose name matches: a word, a glob, or /regular expression/',
      repeated,
    )
    .option('--tag <tag>', 'only scenarios with any of these tags', list)
    .option('--all-tags', 'demand every --tag instead of any')
    .option('--tier <n>', 'only scenarios up to this tier (0 smoke … 3 comprehensive)', wholeNumber)
    .option('--shard <i/n>', 'only the i-th of n equal parts of the trials')
    .option('--repeat <n>', 'attempts per scenario, agent and model', count)
    .option('--rerun-failed [run]', 'only the trials that did not pass in a run (default: the latest)')
    .option('--resume <run>', 'go on with a run that was stopped')
    .optionsGroup('With what:')
    .option('-a, --agent <name>', 'agents of gantry.yaml, or scripted:PATH', list)
    .option('-m, --model <name>', 'models; every agent is tried with each', list)
    .option('--profile <name>', 'agents and models of a profile of gantry.yaml')
    .option('--target-binary <path>', 'the tool under test, instead of the one in the scenario')
    .option('--judge-model <name>', 'provider:model of the judge (else GANTRY_JUDGE_MODEL)')
    .addOption(
      new Option(
        '--judge-batch <when>',
        'ask the judge in batches, at half the price: auto (from 50 calls up, the default), always, never',
      ).choices(judgeBatchModes),
    )
    .option('--no-judge', 'leave the judge out')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .optionsGroup('How:')
    .option('-j, --concurrency <n>', 'trials at a time', count)
    .option('--timeout <duration>', 'time limit of the agent in one trial, for example 90s', duration)
    .option('--max-cost-usd <usd>', 'stop when the run has cost this much', usd)
    .option('--max-time <duration>', 'start no trial after this time', duration)
    .option('--max-pause <duration>', 'how long one trial may wait for a rate limit', durationOrNone)
    .option('--infra-retries <n>', 'how often a trial is tried again when the machinery broke', wholeNumber)
    .addOption(
      new Option(
        '--replay <mode>',
        'of the traffic between agents and models: off, record, strict (only what was recorded), auto (record what is missing)',
      ).choices(replayModes),
    )
    .option('--cassettes <dir>', 'where recorded traffic is (default: cassettes_path of gantry.yaml)')
    .option(
      '--fault <fault>',
      'break calls to the model: 429@0, 529%20, cut@2:3, slow:500; repeatable',
      repeated,
    )
    .option('--no-cache', 'make every trial anew')
    .option('--seed <n>', 'of the resampling behind intervals and of faults with a probability', wholeNumber)
    .option('--watch', 'run again whenever a scenario, template or configuration changes')
    .optionsGroup('What comes out:')
    .option('--plan', 'show trials, cost, time and precision, and run nothing')
    .addOption(new Option('--dry-run', 'the same as --plan'))
    .option('--json', 'print one JSON document and nothing else on standard output')
    .option('--reporter <name[:path]>', 'console, json, junit, tap, md, html or github; repeatable', repeated)
    .option('--baseline <run>', "compare with a run: its id, 'latest' or 'blessed'")
    .option('--threshold <share>', 'pass rate every case must reach (default 1)', share)
    .option(
      '--max-infra-rate <share>',
      'above this share of broken trials the run is infra (default 0.05)',
      share,
    )
    .option('--strict', 'exit 4 when the run is partial or inconclusive')
    .action(async (paths: string[], flags: TestFlags) => {
      const { runTest } = await import('./run-test.ts')
      await runTest(paths, flags, context)
    })
}
