import { Command } from 'commander'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { defined } from '../../core/json-fields.ts'
import type { Analysis } from '../../plugin/analyze/contract.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginAnalyzeCommand(context: CliContext): Command {
  const command = new Command('analyze')
    .alias('analyse')
    .description(
      'Analyse a plugin without running anything: components, triggers, and problems in its files.',
    )
  return withTargetFlags(command)
    .option('--with-plugins <paths>', 'other installed plugins; they share the listing', (value: string) =>
      value.split(',').filter((path) => path !== ''),
    )
    .optionsGroup('What comes out:')
    .option('--json', 'print the analysis as JSON and nothing else on standard output')
    .option('--strict', 'warnings count as errors')
    .option('-v, --verbose', 'print everything, also what is longer than a screen')
    .addHelpText(
      'after',
      helpParagraphs('Exit codes: 0 no errors · 1 findings that are errors · 2 not a plugin, or bad usage'),
    )
    .action((plugin: string | undefined, flags: PluginFlags) => analyze(plugin, flags, context))
}

/** Creates no run, because it is free to repeat. */
async function analyze(plugin: string | undefined, flags: PluginFlags, context: CliContext): Promise<void> {
  const { loadPluginConfig } = await import('./load-plugin-config.ts')
  const { contextWindow, expectedAgentModel } = await import('../../plugin/config/model-names.ts')
  const { evaluationTargets } = await import('../../plugin/pipeline/evaluation-target.ts')
  const { analyzePlugin } = await import('../../plugin/analyze/analyze-plugin.ts')
  const { preflightError } = await import('../../plugin/pipeline/run-analysis.ts')
  const { printError } = await import('../print-error.ts')
  const { analysisReport } = await import('./analysis-report.ts')
  const { printReport } = await import('./print-report.ts')
  const { config, warnings } = loadPluginConfig(plugin, flags, context)
  for (const warning of warnings) context.stderr.write(`warning: ${plainLine(warning)}\n`)
  const targets = await evaluationTargets(config, context.cwd)
  const isMany = targets.length > 1
  const documents: unknown[] = []
  let code: ExitCode = exitCode.pass
  for (const { path, crowd, name } of targets) {
    const contextTokens = contextWindow(expectedAgentModel(config.execution.model, config.execution.env))
    const outcome = await analyzePlugin(defined({ path, cwd: context.cwd, crowd, contextTokens, name }))
    if (outcome.kind === 'refused') {
      code = exitCode.usage
      if (flags.json === true)
        documents.push({ manifest: null, preflight: outcome.preflight, components: null, findings: [] })
      else printError(preflightError(outcome.preflight), context)
      continue
    }
    const { analysis } = outcome
    documents.push(analysis)
    if (flags.json !== true) {
      if (isMany && documents.length > 1) context.stdout.write('\n')
      const shown = { name: analysis.plugin_name, verbose: flags.verbose === true }
      printReport(analysisReport(analysis, context.stdout), shown, context)
    }
    if (code === exitCode.pass && isFaulty(analysis, flags.strict === true)) code = exitCode.failed
  }
  if (flags.json === true)
    context.stdout.write(`${JSON.stringify(isMany ? documents : documents[0], null, 2)}\n`)
  context.setExitCode(code)
}

function isFaulty({ findings, preflight }: Analysis, strict: boolean): boolean {
  if (findings.some(({ severity }) => severity === 'error')) return true
  return strict && (preflight.warnings.length > 0 || findings.some(({ severity }) => severity === 'warning'))
}
