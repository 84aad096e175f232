import type { PluginStage } from '../../plugin/contract.ts'
import type { EvaluationEnd } from '../../plugin/pipeline/run-stages.ts'
import type { CliContext, CliStream } from '../context.ts'

/** A run that ended before its verdicts: where it lies, and how it goes on. */
export function tellUnfinished(
  { runId, runDir, interrupted }: EvaluationEnd,
  { json, until }: { readonly json: boolean; readonly until: PluginStage },
  stream: CliStream,
  context: Pick<CliContext, 'stdout'>,
): void {
  if (json)
    context.stdout.write(
      `${JSON.stringify({ run_id: runId, run_dir: runDir, stage: until, ...(interrupted && { interrupted }) })}\n`,
    )
  else
    stream.write(
      `\n${interrupted ? 'Interrupted: what is finished is kept.\n' : ''}Files  ${runDir}\nNext   gantry plugin resume ${runId}\n`,
    )
}
