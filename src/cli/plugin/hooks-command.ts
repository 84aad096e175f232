import pc from 'picocolors'
import { loadProject } from '../../config/load.ts'
import { counted } from '../../core/counted.ts'
import { exitCode } from '../../core/exit-code.ts'
import { analyzePlugin } from '../../plugin/analyze/analyze-plugin.ts'
import { loadConfigWithOverrides } from '../../plugin/config/load-config.ts'
import type { HookGroupReport, HookLabReport, HookTrial } from '../../plugin/hook-lab/contract.ts'
import { tryHooks } from '../../plugin/hook-lab/try-hooks.ts'
import { evaluationTargets } from '../../plugin/pipeline/evaluation-target.ts'
import { preflightError } from '../../plugin/pipeline/run-analysis.ts'
import { plainLine } from '../../report/plain-text.ts'
import { shortenEnd, wrapText } from '../../report/text-width.ts'
import type { CliContext, CliStream } from '../context.ts'
import type { PluginFlags } from './plugin-flags.ts'
import { pluginOverrides } from './plugin-overrides.ts'

/** `gantry plugin hooks`, once the flags are known. */
export async function hooksCommand(
  plugin: string | undefined,
  flags: PluginFlags,
  context: CliContext,
): Promise<void> {
  const { config } = loadConfigWithOverrides({
    project: loadProject(context.cwd),
    env: context.env,
    flags: pluginOverrides(plugin, flags),
    cwd: context.cwd,
    ...(flags.config !== undefined && { file: flags.config }),
  })
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
    if (flags.json !== true) printLab(report, context.stdout, flags.verbose === true)
  }
  if (flags.json === true)
    context.stdout.write(`${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`)
  if (context.signal.aborted) context.setExitCode(exitCode.interrupted)
  else if (reports.some(({ summary }) => summary.errors + summary.examples_failed > 0))
    context.setExitCode(exitCode.failed)
}

function printLab(report: HookLabReport, stream: CliStream, verbose: boolean): void {
  const { bold, dim, red, yellow, green, cyan } = pc.createColors(stream.color)
  const columns = stream.isTTY ? Math.max(40, stream.columns) : 100
  const say = (line = ''): void => stream.write(`${line}\n`)
  const { summary } = report
  say(
    `${bold(plainLine(report.plugin_name))}  ${dim(`${counted(summary.groups, 'group')}, ${counted(summary.tried_handlers, 'handler')} tried with ${counted(summary.events, 'event')}`)}`,
  )
  for (const group of report.groups) printGroup(group, stream, columns, verbose)
  if (report.examples.length > 0) {
    say(`\n${bold('Examples of the author')}`)
    for (const { passed, source, event, expected, message } of report.examples)
      say(
        `  ${passed ? green('ok  ') : red('FAIL')} ${plainLine(source)}  ${dim(`${event}, ${expected}`)}${passed ? '' : `: ${plainLine(message)}`}`,
      )
  }
  if (report.findings.length > 0) say(`\n${bold('Findings')}`)
  const paint = { error: red, warning: yellow, info: cyan }
  for (const { code, severity, message, suggestion, components } of report.findings) {
    say(`\n  ${paint[severity](severity)} ${dim(code)}  ${plainLine(components.join(', '))}`)
    for (const text of wrapText(plainLine(message), columns - 5)) say(`    ${text}`)
    for (const text of wrapText(plainLine(suggestion), columns - 5)) say(`    ${dim(text)}`)
  }
  say(`\n${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`)
  const hasLetPass = report.groups.some(({ attacks }) => attacks.refused < attacks.tried)
  if (!verbose && hasLetPass)
    say(dim('Not every hook is meant to refuse every attack: --verbose shows what was tried.'))
}

function printGroup(group: HookGroupReport, stream: CliStream, columns: number, verbose: boolean): void {
  const { bold, dim } = pc.createColors(stream.color)
  const { attacks, benign } = group
  const refused =
    attacks.tried === 0 ? '' : `, refused ${attacks.refused} of ${counted(attacks.tried, 'attack')}`
  stream.write(
    `\n${bold(plainLine(group.component))}  ${dim(`let pass ${benign.passed} of ${counted(benign.tried, 'everyday event')}${refused}`)}\n`,
  )
  for (const { action, not_testable, trials } of group.handlers) {
    stream.write(`  ${shortenEnd(plainLine(action), columns - 3)}\n`)
    if (not_testable !== null) stream.write(dim(`    not tried: ${plainLine(not_testable)}\n`))
    for (const trial of trials) if (verbose || trial.findings.length > 0) printTrial(trial, stream, columns)
  }
}

function printTrial(trial: HookTrial, stream: CliStream, columns: number): void {
  const { dim, yellow } = pc.createColors(stream.color)
  const text = trial.text === null ? '' : `: ${plainLine(trial.text)}`
  const noted = trial.findings.length === 0 ? '' : `  ${yellow(trial.findings.join(', '))}`
  const fires = trial.fires ? trial.decision : 'does not fire'
  stream.write(`    ${shortenEnd(`${plainLine(trial.label)}  ${fires}${dim(text)}`, columns - 5)}${noted}\n`)
}
