import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { HookLabReport } from '../../plugin/hook-lab/contract.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginHooksCommand(context: CliContext): Command {
  const command = new Command('hooks').description(
    "Try a plugin's hooks offline: every handler is really run, with the events Claude Code would send it.",
  )
  return withTargetFlags(command)
    .optionsGroup('How:')
    .option('--allow-http', 'also ask handlers of type http, on this machine only')
    .optionsGroup('What comes out:')
    .option('--json', 'print JSON and nothing else on standard output')
    .option('-v, --verbose', 'show every simulated event, not only those with findings')
    .addHelpText(
      'after',
      helpParagraphs(
        'The hooks run as your user, in a temporary home and workspace. The examples of the author in evals/hooks/*.yaml are checked.',
        'Exit codes: 0 nothing is wrong · 1 a hook fails open or hangs, or an example fails · 2 not a plugin, or bad usage',
      ),
    )
    .action((plugin: string | undefined, flags: PluginFlags) => tryPluginHooks(plugin, flags, context))
}

async function tryPluginHooks(
  plugin: string | undefined,
  flags: PluginFlags,
  context: CliContext,
): Promise<void> {
  const { loadPluginConfig } = await import('./load-plugin-config.ts')
  const { evaluationTargets } = await import('../../plugin/pipeline/evaluation-target.ts')
  const { analyzePlugin } = await import('../../plugin/analyze/analyze-plugin.ts')
  const { preflightError } = await import('../../plugin/pipeline/run-analysis.ts')
  const { tryHooks } = await import('../../plugin/hook-lab/try-hooks.ts')
  const { printHookReport } = await import('./print-hook-report.ts')
  const { config } = loadPluginConfig(plugin, flags, context)
  const reports: HookLabReport[] = []
  for (const { path } of await evaluationTargets(config, context.cwd)) {
    const outcome = await analyzePlugin({ path, cwd: context.cwd })
    if (outcome.kind === 'refused') throw preflightError(outcome.preflight)
    const report = await tryHooks(outcome.analysis, {
      env: context.env,
      signal: context.signal,
      allowHttp: flags.allowHttp === true,
      ...(config.execution.cwd !== undefined && { workspace: config.execution.cwd }),
    })
    reports.push(report)
    if (flags.json !== true) printHookReport(report, context.stdout, flags.verbose === true)
  }
  if (flags.json === true)
    context.stdout.write(`${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`)
  if (context.signal.aborted) context.setExitCode(exitCode.interrupted)
  else if (reports.some(({ summary }) => summary.errors + summary.examples_failed > 0))
    context.setExitCode(exitCode.failed)
}
