import picocolors from 'picocolors'
import type { Verdict } from '../../core/verdict.ts'
import { verdictMark } from '../trial-sentences.ts'

export type Palette = ReturnType<typeof palette>

export function palette(color: boolean, ascii: boolean) {
  const colors = picocolors.createColors(color)
  const paint: Readonly<Record<Verdict, (text: string) => string>> = {
    pass: colors.green,
    fail: colors.red,
    infra: colors.yellow,
    invalid: colors.magenta,
  }
  return {
    bold: colors.bold,
    dim: colors.dim,
    warn: colors.yellow,
    verdict: (verdict: Verdict, text: string) => paint[verdict](text),
    mark: (verdict: Verdict) => paint[verdict](verdictMark(verdict, ascii)),
    ellipsis: ascii ? '...' : '…',
    bar: ascii ? '|' : '│',
    full: ascii ? '#' : '█',
    empty: ascii ? '-' : '░',
  }
}
