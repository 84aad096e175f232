import { Command, Option } from 'commander'
import { stages } from '../../plugin/contract.ts'
import type { CliContext } from '../context.ts'
import { usd } from '../flag-values.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type ResumeFlags, withEvaluationFlags, withOutputFlags } from './plugin-flags.ts'
import { pluginExitCodes } from './run.ts'

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
    .addHelpText('after', helpParagraphs(pluginExitCodes))
    .action(async (run: string | undefined, flags: ResumeFlags) => {
      const { continueRun } = await import('./continue-run.ts')
      await continueRun({ run, flags }, context)
    })
}
