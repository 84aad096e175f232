import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { HookLabReport } from '../../plugin/hook-lab/try-hooks.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginHooksCommand(context: CliContext): Command {
  const command = new Command('hooks').description(
    "Try a plugin's hooks offline: run every handler with the events Claude Code would send.",
  )
  return withTargetFlags(command)
    .optionsGroup('What comes out:')
    .option('--json', 'print JSON and nothing else on standard output')
    .option('-v, --verbose', 'show every simulated event, not only those with findings')
    .addHelpText(
      'after',
      helpParagraphs(
        'The hooks run as your user, in a temporary home and workspace. The examples of the author in evals/hooks/*.yaml are checked.',
        'Exit codes: 0 no problems · 1 a hook fails open or hangs, or an example fails · 2 not a plugin, or bad usage',
      ),
    )
    .action((plugin: string | undefined, flags: PluginFlags) => tryPluginHooks(plugin, flags, context))
}

async function tryPluginHooks(plugin: string | undefined, flags: PluginFlags, context: CliContext) {
  const { loadPluginConfig } = await import('./load-plugin-config.ts')
  const { evaluationTargets } = await import('../../plugin/pipeline/evaluation-target.ts')
  const { analysed } = await import('../../plugin/pipeline/run-analysis.ts')
  const { tryHooks } = await import('../../plugin/hook-lab/try-hooks.ts')
  const { hookReport } = await import('./hook-report.ts')
  const { printReport } = await import('./print-report.ts')
  const { config } = loadPluginConfig(plugin, flags, context)
  const reports: HookLabReport[] = []
  for (const { path } of await evaluationTargets(config, context.cwd)) {
    const report = await tryHooks(await analysed({ path, cwd: context.cwd }), {
      env: context.env,
      signal: context.signal,
      ...(config.execution.cwd !== undefined && { workspace: config.execution.cwd }),
    })
    reports.push(report)
    const verbose = flags.verbose === true
    if (flags.json !== true)
      printReport(
        hookReport(report, context.stdout, verbose),
        { name: `${report.plugin_name}-hooks`, verbose },
        context,
      )
  }
  if (flags.json === true)
    context.stdout.write(`${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`)
  if (context.signal.aborted) context.setExitCode(exitCode.interrupted)
  else if (reports.some(({ summary }) => summary.errors + summary.examples_failed > 0))
    context.setExitCode(exitCode.failed)
}
