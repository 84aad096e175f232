import picocolors from 'picocolors'
import type { Verdict } from '../../core/verdict.ts'
import { verdictMark } from '../trial-sentences.ts'

type Paint = (text: string) => string

/** Colours and symbols that the terminal can show. */
export interface Palette {
  readonly bold: Paint
  readonly dim: Paint
  readonly warn: Paint
  readonly verdict: (verdict: Verdict, text: string) => string
  readonly mark: (verdict: Verdict) => string
  readonly ellipsis: string
  readonly bar: string
  readonly full: string
  readonly empty: string
}

export function palette(color: boolean, ascii: boolean): Palette {
  const colors = picocolors.createColors(color)
  const paint: Readonly<Record<Verdict, Paint>> = {
    pass: colors.green,
    fail: colors.red,
    infra: colors.yellow,
    invalid: colors.magenta,
  }
  return {
    bold: colors.bold,
    dim: colors.dim,
    warn: colors.yellow,
    verdict: (verdict, text) => paint[verdict](text),
    mark: (verdict) => paint[verdict](verdictMark(verdict, ascii)),
    ellipsis: ascii ? '...' : '…',
    bar: ascii ? '|' : '│',
    full: ascii ? '#' : '█',
    empty: ascii ? '-' : '░',
  }
}
