import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import type { HookGroupReport, HookLabReport, HookTrial } from '../../plugin/hook-lab/contract.ts'
import { plainLine } from '../../report/plain-text.ts'
import { shortenEnd, wrapText } from '../../report/text-width.ts'
import type { CliStream } from '../context.ts'

/** What the hooks of a plugin did with simulated events. */
export function printHookReport(report: HookLabReport, stream: CliStream, verbose: boolean): void {
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
