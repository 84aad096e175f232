import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type ResumeFlags, withEvaluationFlags, withOutputFlags } from './plugin-flags.ts'
import { pluginExitCodes } from './run.ts'

export function pluginEvaluateCommand(context: CliContext): Command {
  const command = new Command('evaluate')
    .description('Judge the stored transcripts of a run, again or for the first time. Runs no agent.')
    .argument('[run]', "a run id, the beginning of one, or 'latest'", 'latest')
  return withOutputFlags(withEvaluationFlags(command))
    .addHelpText('after', helpParagraphs(pluginExitCodes))
    .action(async (run: string, flags: ResumeFlags) => {
      const { continueRun } = await import('./continue-run.ts')
      await continueRun({ run, flags: { ...flags, fromStage: 'evaluation' } }, context)
    })
}
