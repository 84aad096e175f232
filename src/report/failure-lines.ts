import { shorten } from '../core/shorten.ts'
import type { GateResult, TrialRecord } from '../core/trial.ts'
import type { FinishedRun } from './contract.ts'
import { plainLine, plainText, tailLines, withoutCommands } from './plain-text.ts'
import { judgeSentence, trialEndingSentence, trialMetricsSentence } from './trial-sentences.ts'

/** Why a trial did not pass, as lines of plain text for readers without markup. The reason itself is not repeated. */
export function failureLines(
  record: TrialRecord,
  run: Pick<FinishedRun, 'diagnose' | 'workspaceDiff'> = {},
  limits: DetailLimits = {},
): string[] {
  const failed = record.gates.filter((gate) => !gate.passed)
  const judge = record.judge?.passed === false ? judgeSentence(record) : null
  return [
    ...failed.flatMap((gate) => [
      `gate ${plainLine(gate.type)}: ${plainLine(gate.message)}`,
      ...detailLines(gate.detail, { ...limits, message: gate.message }).map((line) => `    ${line}`),
    ]),
    ...(judge === null ? [] : [`judge: ${judge}`]),
    ...(judge === null ? [] : (record.judge?.issues ?? []).map((issue) => `    | ${plainLine(issue)}`)),
    ...labelled('prompt', record.prompt === undefined ? null : shorten(plainLine(record.prompt), 300)),
    ...labelled('agent', trialEndingSentence(record)),
    ...labelled('use of the tool', trialMetricsSentence(record)),
    ...(run.diagnose?.(record) ?? []).map((sentence) => `likely cause: ${plainLine(sentence)}`),
    ...record.warnings.map((warning) => `warning: ${plainLine(warning)}`),
    ...changeLines(run.workspaceDiff?.(record) ?? null, limits),
    `files: ${plainLine(record.dir)}`,
  ]
}

/** The beginning of what the agent changed in its workspace. The whole is in the trial's `workspace.diff`. */
export function changeLines(
  diff: string | null,
  { maxDiffLines = 40, maxChars = 500 }: DetailLimits = {},
): string[] {
  const all = diff === null ? [] : plainText(diff).trimEnd().split('\n')
  if (all.every((line) => line.trim() === '')) return []
  const shown = all.slice(0, maxDiffLines)
  const part = shown.length === all.length ? '' : ` (first ${shown.length} of ${all.length} lines)`
  return [
    `changes in the workspace${part}:`,
    ...shown.map((line) => `    | ${shorten(line, maxChars)}`.trimEnd()),
  ]
}

function labelled(label: string, sentence: string | null): string[] {
  return sentence === null ? [] : [`${label}: ${sentence}`]
}

/** The reason of a trial: one sentence, and the lines below it, such as a diff. */
export function splitReason(reason: string): { sentence: string; lines: string[] } {
  const text = plainText(reason).trim()
  // Only text after an empty line is a block; a message that is merely wrapped is joined to a sentence.
  const end = text.indexOf('\n\n')
  if (end === -1) return { sentence: plainLine(reason), lines: [] }
  const block = withoutCommands(text.slice(end + 2))
  return { sentence: plainLine(text.slice(0, end)), lines: block.split('\n').map((line) => line.trimEnd()) }
}

/** One finding of a gate: a value, a list, or the end of a longer text. */
interface DetailPart {
  readonly label: string
  readonly lines: readonly string[]
  /** Omitted lines or items: before a text's end, after a list's start. */
  readonly omitted: number
  readonly kind: 'value' | 'list' | 'text'
}

/** The useful part of a gate's `detail`, bounded: values first, then lists, then texts. Empty values are omitted. */
export function detailParts(detail: GateResult['detail'], limits: DetailLimits = {}): DetailPart[] {
  const parts = Object.entries(detail)
    .filter(([key, value]) => explains(key, value, limits.message ?? ''))
    .flatMap(([key, value]) => part(labelOf(key), value, limits))
  return [...parts.filter(is('value')), ...parts.filter(is('list')), ...parts.filter(is('text'))]
}

/** Plain text lines. Foreign text of several lines gets a bar before each line, so that none of it is at the start of a line. */
function detailLines(detail: GateResult['detail'], limits: DetailLimits = {}): string[] {
  return detailParts(detail, limits).flatMap(partLines)
}

/** How much of a part is omitted, as text; empty when nothing is. */
export function omission({ kind, lines, omitted }: DetailPart): string {
  if (omitted === 0) return ''
  return kind === 'list'
    ? ` (and ${omitted} more)`
    : ` (last ${lines.length} of ${lines.length + omitted} lines)`
}

interface DetailLimits {
  readonly maxLines?: number
  readonly maxDiffLines?: number
  readonly maxChars?: number
  /** The message shown before; values in it are not repeated. */
  readonly message?: string
}

/** Values that are false, zero, durations or already in the message do not explain a failure. */
function explains(key: string, value: unknown, message: string): boolean {
  if (value === false || value === 0 || key === 'duration_ms') return false
  // Exact data is the normal case, so only a guess is mentioned.
  if (key === 'source' && (value === 'events' || value === 'shim')) return false
  if (typeof value === 'number')
    return !(message.includes(labelOf(key)) && numbersIn(message).includes(String(value)))
  if (Array.isArray(value))
    return !value.every((item) => typeof item === 'string' && item !== '' && message.includes(item.trim()))
  return !(typeof value === 'string' && value !== '' && message.includes(value.trim()))
}

function numbersIn(message: string): string[] {
  return message.match(/(?<![\w.])\d+(\.\d+)?(?![\w.]*\w)/g) ?? []
}

function is(kind: DetailPart['kind']): (part: DetailPart) => boolean {
  return (part) => part.kind === kind
}

function partLines(part: DetailPart): string[] {
  if (part.kind === 'value') return [`${part.label}: ${part.lines.join(' ')}`]
  return [`${part.label}${omission(part)}:`, ...part.lines.map((line) => `| ${line}`.trimEnd())]
}

function part(label: string, value: unknown, { maxLines = 10, maxChars = 500 }: DetailLimits): DetailPart[] {
  const bounded = (line: string): string => shorten(line, maxChars)
  if (value === null || value === undefined || value === '') return []
  if (typeof value === 'string') {
    const { lines, omitted } = tailLines(value, maxLines)
    if (lines.every((line) => line.trim() === '')) return []
    const short = lines.length === 1 && omitted === 0
    return [{ label, lines: lines.map(bounded), omitted, kind: short ? 'value' : 'text' }]
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return []
    const lines = value.slice(0, maxLines).map((item) => bounded(inline(item)))
    return [{ label, lines, omitted: value.length - lines.length, kind: 'list' }]
  }
  return [{ label, lines: [bounded(inline(value))], omitted: 0, kind: 'value' }]
}

function inline(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return plainLine(text.slice(0, 16_384))
}

/** `exit_code` and `exitCode` are both `exit code`. */
function labelOf(key: string): string {
  return plainLine(key.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')).toLowerCase()
}
