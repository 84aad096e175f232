import { counted } from '../../core/counted.ts'
import type { Verdict } from '../../core/verdict.ts'
import type { FinishedRun } from '../contract.ts'
import { plainLine } from '../plain-text.ts'
import { nextSteps, runEnding, runSentence, totals } from '../run-text.ts'
import { wrapText } from '../text-width.ts'
import { agentName } from '../trial-text.ts'
import type { Palette } from './palette.ts'

const maxRegressions = 20

/** Totals, regressions, the verdict of the run, and what to do next. */
export function conclusion(run: FinishedRun, columns: number, palette: Palette): string[] {
  const { summary } = run
  const ending = runEnding(run)
  const tone = toneOf[ending]
  const [first = '', ...rest] = wrapText(
    `${ending.toUpperCase()}  ${runSentence(run)}`,
    Math.max(10, columns - 3),
  )
  return [
    '',
    palette.bold('Totals'),
    '',
    ...labelled(totals(summary), columns, palette),
    ...regressions(run, columns, palette),
    '',
    `${palette.mark(tone)} ${palette.bold(palette.verdict(tone, first))}`,
    ...rest.map((line) => `  ${palette.bold(palette.verdict(tone, line))}`),
    '',
    // Paths are not wrapped: the terminal does it, and a selected path stays in one piece.
    `  ${palette.dim('Files')}  ${plainLine(run.runDir)}`,
    ...labelled(
      nextSteps(run).map((step): [string, string] => ['Next ', plainLine(step)]),
      columns,
      palette,
    ),
  ]
}

function regressions({ summary }: FinishedRun, columns: number, palette: Palette): string[] {
  if (summary.regressions.length === 0) return []
  const shown = summary.regressions.slice(0, maxRegressions)
  const hidden = summary.regressions.length - shown.length
  return [
    '',
    palette.bold('Regressions'),
    '',
    ...shown.flatMap((found) => {
      const [first = '', ...rest] = wrapText(
        `${found.severity}: ${plainLine(found.case)} (${agentName(found)}): ${plainLine(found.message)}`,
        Math.max(10, columns - 3),
      )
      const paint =
        found.severity === 'alert' ? (text: string) => palette.verdict('fail', text) : palette.warn
      return [`  ${paint(first)}`, ...rest.map((line) => `  ${line}`)]
    }),
    ...(hidden > 0 ? [palette.dim(`  and ${counted(hidden, 'more regression')}`)] : []),
  ]
}

/** Label and value side by side; values are wrapped beneath themselves. */
function labelled(rows: readonly (readonly [string, string])[], columns: number, palette: Palette): string[] {
  const labelWidth = Math.max(0, ...rows.map(([label]) => label.length))
  return rows.flatMap(([label, value], index) => {
    const repeated = index > 0 && rows[index - 1]?.[0] === label
    return wrapText(value, Math.max(10, columns - labelWidth - 5)).map((line, at) => {
      const shown = (at > 0 || repeated ? '' : label).padEnd(labelWidth)
      return `  ${palette.dim(shown)}  ${line}`
    })
  })
}

const toneOf: Readonly<Record<ReturnType<typeof runEnding>, Verdict>> = {
  pass: 'pass',
  fail: 'fail',
  infra: 'infra',
  invalid: 'invalid',
  partial: 'infra',
  inconclusive: 'invalid',
  interrupted: 'infra',
}
