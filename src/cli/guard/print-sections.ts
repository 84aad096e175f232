import pc from 'picocolors'
import { plainText } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'

export interface Section {
  readonly title: string
  /** Sections may contain text of agents and projects, so it is made safe to print. */
  readonly lines: readonly string[]
}

/** Sections without lines are omitted. */
export function printSections(sections: readonly Section[], { stdout }: CliContext): void {
  const { bold } = pc.createColors(stdout.color)
  for (const { title, lines } of sections) {
    if (lines.length === 0) continue
    const shown = lines.map((text) => `  ${plainText(text).trimEnd().replaceAll('\n', '\n    ')}\n`)
    stdout.write(`\n${bold(title)}\n${shown.join('')}`)
  }
}

export function paintVerdict(verdict: 'pass' | 'deny' | 'refuse', { stdout }: CliContext): string {
  const { green, red } = pc.createColors(stdout.color)
  return verdict === 'pass' ? green(verdict) : red(verdict)
}
