// Commands that run stages of an evaluation: the first ones of a new run, or the rest of an earlier one.
import { Command, Option } from 'commander'
import { type PluginStage, stages } from '../../plugin/contract.ts'
import type { CliContext } from '../context.ts'
import { usd } from '../flag-values.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import {
  type PluginFlags,
  type ResumeFlags,
  withDryRunFlags,
  withEvaluationFlags,
  withExecutionFlags,
  withOutputFlags,
  withScenarioFlags,
  withTargetFlags,
} from './plugin-flags.ts'

const exitCodes =
  'Exit codes: 0 as expected · 1 a component fired wrongly or not at all · 2 bad usage or input · 3 infrastructure · 4 partial or inconclusive with --strict · 130 interrupted'

/** All four stages, or those up to another one. */
function startUntil(until: PluginStage, context: CliContext) {
  return async (plugin: string | undefined, flags: PluginFlags): Promise<void> => {
    const { startEvaluation } = await import('./start-evaluation.ts')
    await startEvaluation({ plugin, flags, until }, context)
  }
}

export function pluginRunCommand(context: CliContext): Command {
  const command = withScenarioFlags(withTargetFlags(new Command('run')))
  return withDryRunFlags(withOutputFlags(withEvaluationFlags(withExecutionFlags(command))))
    .description('Evaluate a plugin through all four stages: analyse, generate, execute, evaluate.')
    .addHelpText(
      'after',
      helpParagraphs(
        'Runs the real Claude Code in a separate home directory with the plugin loaded. Hooks of the session record what fires. Without access to a model, scenarios come from trigger phrases, examples and templates. --replay record stores all traffic with models, and --replay strict runs it again without a key.',
        'Examples:\n  gantry plugin run ./my-plugin --dry-run\n  gantry plugin run ./my-plugin --reps 3 --max-cost-usd 5\n  gantry plugin run ./my-plugin --arms without,alone\n  gantry plugin run ./my-plugin --replay strict -o junit-xml:report.xml',
        exitCodes,
      ),
    )
    .action(startUntil('evaluation', context))
}

export function pluginGenerateCommand(context: CliContext): Command {
  const command = withScenarioFlags(withTargetFlags(new Command('generate')))
  return withDryRunFlags(withOutputFlags(command))
    .description('Analyse a plugin and generate its scenarios, without running them.')
    .option(
      '--write-cases [dir]',
      'also write them as cases of `claude plugin eval` (default: evals/ of the plugin)',
    )
    .addHelpText(
      'after',
      helpParagraphs(
        'The scenarios are in scenarios.json of the run. Give that file to a later run with --scenarios, or continue with gantry plugin resume.',
      ),
    )
    .action(startUntil('generation', context))
}

export function pluginExecuteCommand(context: CliContext): Command {
  const command = withScenarioFlags(withTargetFlags(new Command('execute')))
  return withDryRunFlags(withOutputFlags(withExecutionFlags(command)))
    .description('Analyse, generate and run every scenario in Claude Code; verdicts come later.')
    .addHelpText(
      'after',
      helpParagraphs('Continue with gantry plugin evaluate RUN, or gantry plugin resume RUN.'),
    )
    .action(startUntil('execution', context))
}

export function pluginEvaluateCommand(context: CliContext): Command {
  const command = new Command('evaluate')
    .description('Judge the stored transcripts of a run, again or for the first time. Runs no agent.')
    .argument('[run]', "a run id, the beginning of one, or 'latest'", 'latest')
  return withOutputFlags(withEvaluationFlags(command))
    .addHelpText('after', helpParagraphs(exitCodes))
    .action(async (run: string, flags: ResumeFlags) => {
      const { continueRun } = await import('./continue-run.ts')
      await continueRun({ run, flags: { ...flags, fromStage: 'evaluation' } }, context)
    })
}

export function pluginResumeCommand(context: CliContext): Command {
  const command = new Command('resume')
    .description('Continue a run where it was stopped. Finished work is not paid for again.')
    .argument('[run]', "a run id, the beginning of one, or 'latest'")
    .option('-r, --run-id <run>', 'the same as the argument')
    .option('-p, --plugin <name>', 'the latest run of this plugin')
    .addOption(
      new Option('-s, --from-stage <stage>', 'repeat this stage and the following ones').choices([...stages]),
    )
    .option('--max-cost-usd <usd>', 'a new limit for the whole run', usd)
  return withOutputFlags(withEvaluationFlags(command))
    .addHelpText('after', helpParagraphs(exitCodes))
    .action(async (run: string | undefined, flags: ResumeFlags) => {
      const { continueRun } = await import('./continue-run.ts')
      await continueRun({ run, flags }, context)
    })
}
