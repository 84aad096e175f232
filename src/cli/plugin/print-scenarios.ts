import { join, resolve } from 'node:path'
import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import { defined } from '../../core/json-fields.ts'
import { writeCases } from '../../plugin/cases/write-cases.ts'
import type { PluginScenario } from '../../plugin/generate/contract.ts'
import { evaluationFiles, readAnalysis, readScenarios } from '../../plugin/pipeline/evaluation-files.ts'
import type { EvaluationRequest } from '../../plugin/pipeline/evaluation-work.ts'
import type { EvaluationEnd } from '../../plugin/pipeline/run-stages.ts'
import { plainLine } from '../../report/plain-text.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import type { CliContext, CliStream } from '../context.ts'

export interface PrintScenariosOptions {
  readonly json: boolean
  /** A directory, or true for the plugin's own. */
  readonly writeCases: string | boolean | undefined
  readonly request: EvaluationRequest
}

/** Prints the generated scenarios, and writes the cases when --write-cases is given. */
export async function printScenarios(
  { runDir, runId }: EvaluationEnd,
  options: PrintScenariosOptions,
  stream: CliStream,
  context: CliContext,
): Promise<void> {
  const files = evaluationFiles(runDir)
  const scenarios = readScenarios(files)
  const written =
    options.writeCases === undefined || options.writeCases === false
      ? null
      : await writeCases(scenarios, {
          dir:
            options.writeCases === true
              ? join(options.request.target.path, 'evals')
              : resolve(context.cwd, options.writeCases),
          plugin: readAnalysis(files),
        })
  if (options.json) {
    const document = defined({ run_id: runId, run_dir: runDir, scenarios, cases: written ?? undefined })
    context.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return
  }
  const { dim } = pc.createColors(stream.color)
  const table = textTable(
    columns(options.request.config.tuning.limits.prompt_display_length),
    scenarios,
    (stream.isTTY ? stream.columns : 140) - 2,
  )
  stream.write(`\n${dim(`  ${table.heading}`)}\n`)
  for (const scenario of scenarios) stream.write(`  ${table.line(scenario)}\n`)
  stream.write(`\nFiles  ${files.scenarios}\n`)
  if (written !== null) {
    stream.write(
      `Cases  ${counted(written.filter(({ kind }) => kind === 'written').length, 'case')} written\n`,
    )
    for (const entry of written)
      if (entry.kind === 'kept')
        stream.write(dim(`  ${plainLine(entry.path)} already exists and was not changed\n`))
  }
  stream.write(`Next   gantry plugin resume ${runId}\n`)
}

const columns = (promptLength: number): readonly Column<PluginScenario>[] => [
  { title: 'scenario', text: ({ id }) => plainLine(id), shorten: 'middle' },
  { title: 'type', text: ({ scenario_type: type }) => type, dropAt: 2 },
  { title: 'fires', text: ({ expected_trigger: fires }) => (fires ? 'yes' : 'no') },
  { title: 'from', text: ({ origin }) => origin, dropAt: 3 },
  {
    title: 'prompt',
    text: ({ user_prompt: prompt }) => plainLine(prompt),
    shorten: 'end',
    maxWidth: promptLength,
    dropAt: 1,
  },
]
