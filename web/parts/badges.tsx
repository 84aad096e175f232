import { useRef, useState } from 'react'
import { interval, percent } from './format.ts'

/** A verdict or status by colour, sign and word, so that it can be read without colours. */
export function Verdict({ value, short = false }: { readonly value: string; readonly short?: boolean }) {
  const sign = signs[value] ?? '?'
  return (
    <span className={`verdict v-${value.replaceAll(' ', '-')}`} title={value}>
      <span aria-hidden="true">{sign}</span>
      <span className={short ? 'hidden' : undefined}> {value}</span>
    </span>
  )
}

const signs: Readonly<Record<string, string>> = {
  pass: '✓',
  fail: '✗',
  infra: '⚡',
  invalid: '⊘',
  partial: '◐',
  inconclusive: '?',
  running: '●',
  ended: '◷',
  interrupted: '■',
  unknown: '?',
  better: '▲',
  worse: '▼',
  same: '=',
  queued: '…',
  error: '✗',
  warning: '!',
  info: 'i',
  verified: '✓',
  capped: '◐',
  waived: '◐',
  'not verified': '✗',
  'no verdict': '–',
  denied: '⊘',
  refused: '✗',
  green: '✓',
  red: '✗',
  stale: '◷',
  hollow: '○',
  missing: '–',
  success: '✓',
  proposed: '◐',
  'no change': '=',
  cancelled: '■',
  stuck: '✗',
  weakened: '◐',
  'infra error': '⚡',
}

interface Range {
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
}

/** A rate with its 95% interval as a bar from 0 to 1. */
export function RateBar({ rate, label }: { readonly rate: Range; readonly label: string }) {
  const { value, low, high } = rate
  const words = value === null ? 'no rate yet' : `${percent(value)}, 95% interval ${interval(rate)}`
  const x = (share: number): number => 2 + share * 196
  return (
    <span className="rate">
      <svg viewBox="0 0 200 16" role="img" aria-label={`${label}: ${words}`} preserveAspectRatio="none">
        <rect x="0" y="6" width="200" height="4" className="rate-track" />
        {low !== null && high !== null && (
          <rect x={x(low)} y="4" width={Math.max(1, x(high) - x(low))} height="8" className="rate-range" />
        )}
        {value !== null && <rect x={x(value) - 1.5} y="1" width="3" height="14" className="rate-value" />}
      </svg>
      <span className="rate-text">
        {percent(value)} {low !== null && high !== null && <small>{interval(rate)}</small>}
      </span>
    </span>
  )
}

/** A button that copies a text, which may have to be asked for first. */
export function Copy({
  text,
  label,
}: {
  readonly text: () => string | Promise<string>
  readonly label: string
}) {
  const [shown, setShown] = useState(label)
  const copy = async (): Promise<void> => {
    try {
      const found = text()
      if (typeof found !== 'string') setShown('Loading…')
      setShown((await isCopied(await found)) ? 'Copied' : 'The browser does not allow it')
    } catch (error) {
      setShown(error instanceof Error ? error.message : String(error))
    }
    setTimeout(() => setShown(label), 1_500)
  }
  return (
    <button type="button" className="quiet" disabled={shown === 'Loading…'} onClick={() => void copy()}>
      {shown}
    </button>
  )
}

/** A page that came over plain HTTP from another machine has no clipboard but this older way. */
async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.select()
    const is = document.execCommand('copy')
    field.remove()
    return is
  }
}

/** Copies the table before it as Markdown, as it is shown. Columns of buttons have a hidden title and are left out. */
export function CopyTable() {
  const place = useRef<HTMLParagraphElement>(null)
  return (
    <p className="actions" ref={place}>
      <Copy
        text={() => tableMarkdown(place.current?.previousElementSibling ?? null)}
        label="copy as Markdown"
      />
    </p>
  )
}

function tableMarkdown(holder: Element | null): string {
  const rows = [...(holder?.querySelectorAll('tr') ?? [])].map((row) => [...row.cells])
  const isShown = (rows[0] ?? []).map((cell) => cell.querySelector('.hidden') === null)
  const [head = [], ...lines] = rows.map((cells) =>
    cells
      .filter((_, at) => isShown[at] !== false)
      .map((cell) => [...cell.childNodes].map((node) => node.textContent).join(' ')),
  )
  return markdownTable(head, lines)
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .map((cell) =>
        cell
          .trim()
          .replaceAll('|', '\\|')
          .replaceAll(/\s*\n\s*/g, '<br>'),
      )
      .join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n')
}
