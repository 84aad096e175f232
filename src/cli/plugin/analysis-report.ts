import pc from 'picocolors'
import { counted, formatCount } from '../../core/counted.ts'
import type { Analysis, ListingBudget, PreflightNotice } from '../../plugin/analyze/contract.ts'
import { unloadsPlugin } from '../../plugin/analyze/notes.ts'
import { componentList } from '../../plugin/component-list.ts'
import { wrapText } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import type { CliStream } from '../context.ts'
import { findingLines, findingSummary, type LongReport } from './print-report.ts'

interface Row {
  readonly type: string
  readonly cliName: string
  readonly description: string
}

/** The analysis of a plugin for people: what to change, then its components and what else is good to know. */
export function analysisReport(analysis: Analysis, stream: CliStream): LongReport {
  const { bold, dim, red, green } = pc.createColors(stream.color)
  const columns = stream.isTTY ? Math.max(40, stream.columns) : 100
  const { findings, preflight, manifest, listing } = analysis
  const { version } = manifest
  const blocking = findings.find(unloadsPlugin)
  const urgent = findings.filter(({ severity }) => severity !== 'info')
  const known = findings.filter(({ severity }) => severity === 'info')
  const errors = urgent.filter(({ severity }) => severity === 'error').length
  const total = `${counted(errors, 'error')}, ${counted(urgent.length - errors, 'warning')}`
  const top = [
    `${bold(plainLine(analysis.plugin_name))}${typeof version === 'string' ? ` ${plainLine(version)}` : ''}  ${dim(plainLine(analysis.plugin_path))}`,
    ...(blocking === undefined
      ? []
      : ['', red(bold('Claude Code does not load this plugin. Fix the first finding before all others.'))]),
  ]
  const heading = ['', bold('What to change'), ...(urgent.length === 0 ? [`  ${green('nothing')}`] : [])]
  const [first = '', ...rest] = wrapText(listingSentence(listing), columns - 10)
  const listed = ['', `${bold('Listing')}  ${first}`, ...rest.map((line) => `         ${line}`)]
  const rows = rowsOf(analysis)
  const table = textTable(tableColumns, rows, columns - 2)
  return {
    lines: [
      ...top,
      ...heading,
      ...findingLines(urgent, stream, columns),
      '',
      bold('Components'),
      ...(rows.length === 0
        ? ['  The plugin has no components.']
        : [dim(`  ${table.heading}`), ...rows.map((row) => `  ${table.line(row)}`)]),
      ...listed,
      ...preflight.warnings.flatMap((notice) => warningLines(notice, stream, columns)),
      ...(known.length === 0 ? [] : ['', bold('Good to know'), ...findingLines(known, stream, columns)]),
      ...(findings.length === 0 ? [] : ['', total]),
    ],
    summary: [
      ...top,
      ...heading,
      ...findingSummary(urgent, stream, columns),
      '',
      `${bold('Components')}  ${rows.length === 0 ? 'none' : kindsOf(rows)}`,
      ...listed.slice(1),
      `${total}, ${known.length} good to know`,
    ],
  }
}

function kindsOf(rows: readonly Row[]): string {
  return [...Map.groupBy(rows, ({ type }) => type)]
    .map(([type, of]) => counted(of.length, type === 'mcp' ? 'server' : type))
    .join(', ')
}

/** How much of the descriptions the model sees, and how much space is left for them. */
function listingSentence({
  context_tokens: window,
  budget_characters: budget,
  used_characters: used,
  reserved_characters: reserved,
  entries,
}: ListingBudget): string {
  const lost = entries.filter(({ shown }) => shown !== 'whole').length
  const own =
    reserved === undefined ? '' : `, ${formatCount(reserved)} of them for the skills of Claude Code itself`
  const fate =
    lost === 0
      ? 'every description is shown to the model whole'
      : `${counted(lost, 'description')} cut or dropped`
  const of = window === undefined ? '' : `, for a model with a window of ${formatCount(window)} tokens`
  return `${formatCount(used)} of ${formatCount(budget)} characters${own}${of}: ${fate}`
}

function warningLines(
  { code, message, suggestion }: PreflightNotice,
  stream: CliStream,
  columns: number,
): readonly string[] {
  const { yellow, dim } = pc.createColors(stream.color)
  return [
    '',
    `${yellow('warning')} ${dim(code)}`,
    ...wrapText(plainLine(message), columns - 3).map((line) => `  ${line}`),
    ...wrapText(plainLine(suggestion), columns - 3).map((line) => `  ${dim(line)}`),
  ]
}

const tableColumns: readonly Column<Row>[] = [
  { title: 'type', text: ({ type }) => type },
  { title: 'name', text: ({ cliName }) => plainLine(cliName), shorten: 'middle' },
  {
    title: 'description',
    text: ({ description }) => plainLine(description),
    shorten: 'end',
    dropAt: 1,
    minWidth: 20,
  },
]

function rowsOf({ components }: Analysis): readonly Row[] {
  return componentList(components).map(({ type, component }) => ({
    type: type === 'mcp_server' ? 'mcp' : type,
    cliName: type === 'command' ? component.invocation : component.cli_name,
    description: component.description,
  }))
}
