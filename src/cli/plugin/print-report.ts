import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'
import { openProjectStore } from '../../config/open-project-store.ts'
import { counted } from '../../core/counted.ts'
import { writeFileAtomic } from '../../io/files.ts'
import type { PluginFinding } from '../../plugin/analyze/contract.ts'
import { wrapText } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliContext, CliStream } from '../context.ts'

/** A report for people: everything, and a summary for when that is too long. */
export interface LongReport {
  readonly lines: readonly string[]
  /** Without the line that says where everything is. */
  readonly summary: readonly string[]
}

/** More does not fit on a screen. */
const mostLines = 40

/**
 * Prints a report that fits on a screen. Of a longer one it prints the summary and writes everything to a file, without
 * colours, or prints everything with `--verbose`.
 */
export function printReport(
  { lines, summary }: LongReport,
  { name, verbose }: { readonly name: string; readonly verbose: boolean },
  context: CliContext,
): void {
  const { stdout } = context
  if (verbose || lines.length <= mostLines) {
    stdout.write(`${lines.join('\n')}\n`)
    return
  }
  const file = join(openProjectStore(context).root, 'analysis', `${name.replaceAll(/[^\w.-]/g, '-')}.txt`)
  writeFileAtomic(file, `${lines.map((line) => stripVTControlCharacters(line)).join('\n')}\n`)
  stdout.write(
    `${summary.slice(0, mostLines - 2).join('\n')}\n\nEverything (${counted(lines.length, 'line')}): ${file}\n`,
  )
}

export function findingLines(
  findings: readonly PluginFinding[],
  stream: Pick<CliStream, 'color'>,
  columns: number,
): readonly string[] {
  const { dim } = pc.createColors(stream.color)
  return findings.flatMap((finding) => [
    '',
    `  ${head(finding, stream)}${dim(placeOf(finding))}`,
    ...wrapText(plainLine(finding.message), columns - 5).map((text) => `    ${text}`),
    ...wrapText(plainLine(finding.suggestion), columns - 5).map((text) => `    ${dim(text)}`),
  ])
}

/** One entry per kind of finding: how often, the first of them, and what to do. */
export function findingSummary(
  findings: readonly PluginFinding[],
  stream: Pick<CliStream, 'color'>,
  columns: number,
): readonly string[] {
  const { dim } = pc.createColors(stream.color)
  const kinds = [...Map.groupBy(findings, ({ code, severity }) => `${severity} ${code}`).values()]
  const shown = kinds.slice(0, mostKinds)
  const cut = (text: string): readonly string[] => {
    const wrapped = wrapText(plainLine(text), columns - 6)
    return wrapped.length <= 2 ? wrapped : [wrapped[0] ?? '', `${wrapped[1]}…`]
  }
  return [
    ...shown.flatMap((group) => {
      const [first] = group
      if (first === undefined) return []
      const times = group.length === 1 ? '' : ` ${group.length} times, first`
      return [
        `  ${head(first, stream)}${dim(`${times}${placeOf(first)}`)}`,
        ...cut(first.message).map((text) => `    ${text}`),
        ...cut(first.suggestion).map((text) => `    ${dim(text)}`),
      ]
    }),
    ...(kinds.length > shown.length
      ? [dim(`  and ${counted(kinds.length - shown.length, 'more kind')} of findings`)]
      : []),
  ]
}

/** Up to five lines each. */
const mostKinds = 6

function head({ severity, code }: PluginFinding, { color }: Pick<CliStream, 'color'>): string {
  const { dim, red, yellow, cyan } = pc.createColors(color)
  return `${{ error: red, warning: yellow, info: cyan }[severity](severity)} ${dim(code)}`
}

function placeOf({ path, line, components, detail }: PluginFinding): string {
  const of =
    detail?.handler === undefined || components.length === 0 ? '' : `  ${plainLine(components.join(', '))}`
  return path === undefined ? of : `  ${plainLine(path)}${line === undefined ? '' : `:${line}`}${of}`
}
