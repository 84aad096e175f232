import { Command } from 'commander'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import type { Rate } from '../core/summary.ts'
import { biasRows } from '../report/comparison-sections.ts'
import { plainLine } from '../report/plain-text.ts'
import { formatCost, formatPercent, formatRate } from '../report/quantity.ts'
import { trustSentence } from '../report/run-sentence.ts'
import type { JudgeCalibration } from '../scenario/label-trials.ts'
import type { CliContext } from './context.ts'
import { wholeNumber } from './flag-values.ts'

export function judgeCommand(context: CliContext): Command {
  return new Command('judge').addCommand(
    new Command('calibrate')
      .description('How often the judge agrees with labels.jsonl, and what that means for the pass rate.')
      .argument('[run...]', 'runs whose judged trials are looked at (default: all)')
      .option('--seed <n>', 'seed of the draws', wholeNumber, 1)
      .option('--json', 'print JSON and nothing else on standard output')
      .action(async (runs: string[], flags: { readonly seed: number; readonly json?: boolean }) => {
        const { openProjectStore } = await import('../config/open-project-store.ts')
        const { calibrateJudges, projectLabels } = await import('../scenario/label-trials.ts')
        const labels = projectLabels(context.cwd)
        const found = await calibrateJudges(openProjectStore(context), labels, runs, flags.seed)
        if (labels.size === 0 && found.every(({ pairwise }) => pairwise === null))
          throw new GantryError('NOT_FOUND', 'there are no labels', {
            hint: 'Give some: gantry label RUN TRIAL pass|fail.',
          })
        context.stdout.write(
          flags.json === true
            ? `${JSON.stringify({ labels: labels.size, judges: found }, null, 2)}\n`
            : `${found.length === 0 ? 'No trial was judged.' : found.map(textOf).join('\n\n')}\n`,
        )
      }),
  )
}

function textOf(judge: JudgeCalibration): string {
  const { confusion, kappa, best_threshold: best, corrected_pass_rate: corrected } = judge
  const rate = (value: Rate): string =>
    value.n === 0 ? 'no such label' : `${formatRate(value)} of ${value.n}`
  const range = (low: number, high: number): string => `${low.toFixed(2)} to ${high.toFixed(2)}`
  const scoring: readonly (readonly string[])[] = [
    ['trust', trustSentence({ ...judge, kappa: kappa?.value ?? null })],
    ['labels', String(judge.labels)],
    ['agreement', rate(judge.agreement)],
    [
      'kappa',
      kappa === null
        ? 'unknown: all labels or all answers are the same'
        : `${kappa.value.toFixed(2)} (${range(kappa.low, kappa.high)})`,
    ],
    ['good, passed', rate(judge.sensitivity)],
    ['bad, failed', rate(judge.specificity)],
    ['errors', `${confusion.bad_passed} bad passed, ${confusion.good_failed} good failed`],
    ...(best === null
      ? []
      : [
          [
            'threshold',
            best.agreement > (judge.agreement.value ?? 1)
              ? `${best.threshold} would agree with ${formatPercent(best.agreement)}`
              : 'no other would agree better',
          ] as const,
        ]),
    ...(judge.pass_rate === null
      ? []
      : [
          [
            'pass rate',
            `${formatPercent(judge.pass_rate)} of ${counted(judge.judged, 'judged trial')}; ${
              corrected === null
                ? 'cannot be corrected with these labels'
                : `corrected for its errors ${formatPercent(corrected.value)} (${formatPercent(corrected.low)} to ${formatPercent(corrected.high)})`
            }`,
          ] as const,
        ]),
  ]
  const rows = [
    ...(judge.pairwise === null ? [] : pairRows(judge.pairwise)),
    ...(judge.pairwise === null || judge.judged + judge.labels > 0 ? scoring : []),
    ['cost', formatCost(judge.cost_usd)],
  ]
  return [plainLine(judge.model), ...rows.map(([name = '', text]) => `  ${name.padEnd(13)} ${text}`)].join(
    '\n',
  )
}

function pairRows(pairwise: NonNullable<JudgeCalibration['pairwise']>): readonly (readonly string[])[] {
  const { pairs, prefers_good: good } = pairwise
  return [
    ['compared', counted(pairs, 'pair')],
    ...biasRows(pairwise),
    [
      'prefers good',
      good.n === 0
        ? 'unknown: no winner of a pair with one good and one bad label'
        : `${formatRate(good)} of ${counted(good.n, 'labelled pair')}`,
    ],
  ]
}
