import { loadProject } from '../../config/load.ts'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { analyzePlugin } from '../../plugin/analyze/analyze-plugin.ts'
import type { Analysis } from '../../plugin/analyze/contract.ts'
import { loadConfigWithOverrides } from '../../plugin/config/load-config.ts'
import { evaluationTargets } from '../../plugin/pipeline/evaluation-target.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import { printError } from '../print-error.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { pluginOverrides } from './plugin-overrides.ts'
import { printAnalysis } from './print-analysis.ts'

/** `gantry plugin analyze`, once the flags are known. Makes no run: it costs nothing to do it again. */
export async function analyzeCommand(
  plugin: string | undefined,
  flags: PluginFlags,
  context: CliContext,
): Promise<void> {
  const { config, warnings } = loadConfigWithOverrides({
    project: loadProject(context.cwd),
    env: context.env,
    flags: pluginOverrides(plugin, flags),
    cwd: context.cwd,
    ...(flags.config !== undefined && { file: flags.config }),
  })
  for (const warning of warnings) context.stderr.write(`warning: ${plainLine(warning)}\n`)
  const targets = await evaluationTargets(config, context.cwd)
  const isMany = targets.length > 1
  const told: unknown[] = []
  let code: ExitCode = exitCode.pass
  for (const { path, crowd } of targets) {
    const outcome = await analyzePlugin({ path, cwd: context.cwd, crowd })
    if (outcome.kind === 'refused') {
      code = exitCode.usage
      if (flags.json === true)
        told.push({ manifest: null, preflight: outcome.preflight, components: null, findings: [] })
      else printError(preflightError(outcome.preflight), context)
      continue
    }
    const { analysis } = outcome
    told.push(analysis)
    if (flags.json !== true) {
      if (isMany && told.length > 1) context.stdout.write('\n')
      printAnalysis(analysis, context.stdout)
    }
    if (code === exitCode.pass && isFaulty(analysis, flags.strict === true)) code = exitCode.failed
  }
  if (flags.json === true) context.stdout.write(`${JSON.stringify(isMany ? told : told[0], null, 2)}\n`)
  context.setExitCode(code)
}

function isFaulty({ findings, preflight }: Analysis, strict: boolean): boolean {
  if (findings.some(({ severity }) => severity === 'error')) return true
  return strict && (preflight.warnings.length > 0 || findings.some(({ severity }) => severity === 'warning'))
}
