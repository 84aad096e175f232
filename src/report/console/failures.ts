import { counted, formatCount } from '../../core/counted.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { whyAllowed } from '../case-verdict.ts'
import type { FinishedRun } from '../contract.ts'
import { shortenEnd, wrapText } from '../display-width.ts'
import { failureLines, splitReason } from '../failure-lines.ts'
import { trialName } from '../trial-sentences.ts'
import type { Palette } from './palette.ts'

/** The rest is in the run directory and in the other reports. */
const maxExplained = 20

/**
 * Explains the trials that did not pass. Trials of a case that failed the same way are shown once. Infra and invalid trials are
 * grouped by reason, because many of them usually have one cause.
 */
export async function failures(run: FinishedRun, columns: number, palette: Palette): Promise<string[]> {
  const failed = new Map<string, Group>()
  const broken = new Map<string, Group>()
  let hidden = 0
  for await (const record of run.records()) {
    if (record.verdict === 'pass') continue
    const known = record.verdict === 'fail' ? failed : broken
    const key = sameness(record)
    const same = known.get(key)
    if (same !== undefined) same.count += 1
    else if (known.size >= maxExplained) hidden += 1
    else known.set(key, { record, count: 1 })
  }
  if (failed.size + broken.size === 0) return []
  const blocks = [
    ...[...failed.values()].map((group) => explained(group, run, columns, palette)),
    ...[...broken.values()].map((group) => gathered(group, run, columns, palette)),
  ]
  return [
    '',
    palette.bold('What did not pass'),
    ...blocks.flatMap((block) => ['', ...block]),
    ...(hidden > 0 ? ['', palette.dim(`and ${counted(hidden, 'more trial')}, not shown here`)] : []),
  ]
}

interface Group {
  readonly record: TrialRecord
  count: number
}

function explained({ record, count }: Group, run: FinishedRun, columns: number, palette: Palette): string[] {
  const others = count > 1 ? ` (${counted(count, 'attempt')} failed like this)` : ''
  return [
    ...heading(record, columns, palette),
    ...indented(`${headline(record)}${others}`, 2, columns).map((line) => palette.verdict('fail', line)),
    ...details(record, run, columns, palette),
  ]
}

function details(record: TrialRecord, run: FinishedRun, columns: number, palette: Palette): string[] {
  const limits = { maxChars: Math.max(20, columns - 12), maxDiffLines: 20 }
  const lines = failureLines(record, run, limits)
  // How an agent ended that is not counted explains nothing: the reason does.
  const shown =
    record.verdict === 'fail' ? lines : lines.filter((line) => !/^(agent|use of the tool): /.test(line))
  return shown.flatMap((line) => detail(line, columns, palette))
}

/** The failed gates are listed below, so the headline shows only their number. */
export function headline({ gates, reason }: TrialRecord): string {
  const failed = gates.filter((gate) => !gate.passed).length
  return failed === 0 ? splitReason(reason).sentence : `${failed} of ${counted(gates.length, 'gate')} failed`
}

function gathered({ record, count }: Group, run: FinishedRun, columns: number, palette: Palette): string[] {
  const times = count > 1 ? `${formatCount(count)} trials, for example ` : ''
  const broken = record.untried === true ? whyAllowed(record) : 'the case is broken'
  const meaning = record.verdict === 'infra' ? 'infrastructure failed' : broken
  const { sentence, lines } = splitReason(record.reason)
  return [
    ...heading(record, columns, palette, times),
    ...indented(`${record.verdict} (${meaning}): ${sentence}`, 2, columns),
    ...lines.flatMap((line) => detail(`    | ${line}`, columns, palette)),
    ...details(record, run, columns, palette),
  ]
}

function heading(record: TrialRecord, columns: number, palette: Palette, before = ''): string[] {
  const [first = '', ...rest] = wrapText(`${before}${trialName(record)}`, Math.max(10, columns - 3))
  return [
    `${palette.mark(record.verdict)} ${palette.bold(first)}`,
    ...rest.map((line) => `  ${palette.bold(line)}`),
  ]
}

/** Sentences are wrapped; quoted output is cut at the edge, because wrapped output is hard to read. */
function detail(line: string, columns: number, palette: Palette): string[] {
  const quoted = /^ {4}\| ?/.exec(line)
  if (quoted !== null) {
    const text = shortenEnd(line.slice(quoted[0].length), Math.max(10, columns - 9), palette.ellipsis)
    return [`      ${palette.dim(palette.bar)} ${text}`.trimEnd()]
  }
  // Paths are not wrapped: the terminal does it, and a selected path stays in one piece.
  if (line.startsWith('files: ')) return [palette.dim(`  ${line}`)]
  if (line.startsWith('    ')) return indented(line.trimStart(), 6, columns).map(palette.dim)
  const gate = line.startsWith('gate ') ? `${palette.mark('fail')} ` : ''
  const [first = '', ...rest] = indented(line.replace(/^gate /, ''), gate === '' ? 2 : 4, columns)
  return [
    gate === '' ? palette.dim(first) : `  ${gate}${first.trimStart()}`,
    ...rest.map((text) => (gate === '' ? palette.dim(text) : text)),
  ]
}

function indented(text: string, indent: number, columns: number): string[] {
  return wrapText(text, Math.max(10, columns - indent - 1)).map((line) => ' '.repeat(indent) + line)
}

function sameness(record: TrialRecord): string {
  if (record.verdict !== 'fail') return JSON.stringify([record.verdict, record.reason])
  const gates = record.gates.map(({ passed, message }) => (passed ? null : message))
  return JSON.stringify([record.case, record.agent, record.model, record.reason, gates])
}
