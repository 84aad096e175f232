import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import type { HookGroupReport, HookTrial } from '../../plugin/hook-lab/try-group.ts'
import type { HookLabReport } from '../../plugin/hook-lab/try-hooks.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliStream } from '../context.ts'
import { findingLines, findingSummary, type LongReport } from './print-report.ts'

/** What the hooks of a plugin did with simulated events, for people. */
export function hookReport(report: HookLabReport, stream: CliStream, verbose: boolean): LongReport {
  const { bold, dim, red, green } = pc.createColors(stream.color)
  const columns = stream.isTTY ? Math.max(40, stream.columns) : 100
  const { summary, findings } = report
  const top = `${bold(plainLine(report.plugin_name))}  ${dim(`${counted(summary.groups, 'group')}, ${counted(summary.tried_handlers, 'handler')} tried with ${counted(summary.events, 'event')}`)}`
  const heading = findings.length === 0 ? [] : ['', bold('What to change')]
  const hasLetPass = report.groups.some(({ attacks }) => attacks.refused < attacks.tried)
  const end = [
    '',
    `${counted(summary.errors, 'error')}, ${counted(summary.warnings, 'warning')}`,
    ...(!verbose && hasLetPass
      ? [dim('Not every hook is meant to refuse every attack. --verbose shows what was tried.')]
      : []),
  ]
  const examples = report.examples.map(
    ({ passed, source, event, expected, message }) =>
      `  ${passed ? green('ok  ') : red('FAIL')} ${plainLine(source)}  ${dim(`${event}, ${expected}`)}${passed ? '' : `: ${plainLine(message)}`}`,
  )
  return {
    lines: [
      top,
      ...heading,
      ...findingLines(findings, stream, columns),
      ...report.groups.flatMap((group) => groupLines(group, stream, columns, verbose)),
      ...(examples.length === 0 ? [] : ['', bold('Examples of the author'), ...examples]),
      ...end,
    ],
    summary: [top, ...heading, ...findingSummary(findings, stream, columns), ...end],
  }
}

function groupLines(
  group: HookGroupReport,
  stream: CliStream,
  columns: number,
  verbose: boolean,
): readonly string[] {
  const { bold, dim } = pc.createColors(stream.color)
  const { attacks, benign } = group
  const refused =
    attacks.tried === 0 ? '' : `, refused ${attacks.refused} of ${counted(attacks.tried, 'attack')}`
  return [
    '',
    `${bold(plainLine(group.component))}  ${dim(`accepted ${benign.passed} of ${counted(benign.tried, 'everyday event')}${refused}`)}`,
    ...group.handlers.flatMap(({ action, not_testable, trials }) => [
      `  ${shortenEnd(plainLine(action), columns - 3)}`,
      ...(not_testable === null ? [] : [dim(`    not tried: ${plainLine(not_testable)}`)]),
      ...trials
        .filter((trial) => verbose || trial.findings.length > 0)
        .map((trial) => trialLine(trial, stream, columns)),
    ]),
  ]
}

function trialLine(trial: HookTrial, stream: CliStream, columns: number): string {
  const { dim, yellow } = pc.createColors(stream.color)
  const text = trial.text === null ? '' : `: ${plainLine(trial.text)}`
  const noted = trial.findings.length === 0 ? '' : `  ${yellow(trial.findings.join(', '))}`
  const fires = trial.fires ? trial.decision : 'does not fire'
  return `    ${shortenEnd(`${plainLine(trial.label)}  ${fires}${dim(text)}`, columns - 5)}${noted}`
}
