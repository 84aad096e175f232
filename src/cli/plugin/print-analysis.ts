import pc from 'picocolors'
import { counted, formatCount } from '../../core/counted.ts'
import type {
  Analysis,
  ListingBudget,
  PluginFinding,
  PreflightNotice,
} from '../../plugin/analyze/contract.ts'
import { plainLine } from '../../report/plain-text.ts'
import { type Column, textTable } from '../../report/text-table.ts'
import { wrapText } from '../../report/text-width.ts'
import type { CliStream } from '../context.ts'

interface Row {
  readonly type: string
  readonly name: string
  readonly cliName: string
  readonly description: string
}

/** Prints the analysis of a plugin: its components, and what is wrong with them. */
export function printAnalysis(analysis: Analysis, stream: CliStream): void {
  const { bold, dim } = pc.createColors(stream.color)
  const columns = stream.isTTY ? Math.max(40, stream.columns) : 100
  const say = (line: string): void => stream.write(`${line}\n`)
  const { version } = analysis.manifest
  say(
    `${bold(plainLine(analysis.plugin_name))}${typeof version === 'string' ? ` ${plainLine(version)}` : ''}  ${dim(plainLine(analysis.plugin_path))}`,
  )
  const rows = rowsOf(analysis)
  say('')
  if (rows.length === 0) say('  The plugin has no components.')
  else {
    const table = textTable(tableColumns, rows, columns - 2)
    say(dim(`  ${table.heading}`))
    for (const row of rows) say(`  ${table.line(row)}`)
  }
  say('')
  const [first = '', ...rest] = wrapText(listingSentence(analysis.listing), columns - 10)
  say(`${bold('Listing')}  ${first}`)
  for (const line of rest) say(`         ${line}`)
  for (const notice of analysis.preflight.warnings) printWarning(notice, stream, columns)
  printFindings(analysis.findings, stream, columns)
}

/** How much of the descriptions the model sees, and of the room for them what is left. */
function listingSentence({
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
  return `${formatCount(used)} of ${formatCount(budget)} characters${own}: ${fate}`
}

/** A warning about the plugin or its location. */
function printWarning(
  { code, message, suggestion }: PreflightNotice,
  stream: CliStream,
  columns: number,
): void {
  const { yellow, dim } = pc.createColors(stream.color)
  stream.write(`\n${yellow('warning')} ${dim(code)}\n`)
  for (const line of wrapText(plainLine(message), columns - 3)) stream.write(`  ${line}\n`)
  for (const line of wrapText(plainLine(suggestion), columns - 3)) stream.write(`  ${dim(line)}\n`)
}

function printFindings(findings: readonly PluginFinding[], stream: CliStream, columns: number): void {
  const { bold, dim, red, yellow, cyan, green } = pc.createColors(stream.color)
  stream.write(`\n${bold('Findings')}\n`)
  if (findings.length === 0) stream.write(`  ${green('none')}\n`)
  const paint = { error: red, warning: yellow, info: cyan }
  for (const { code, severity, message, suggestion, path, line } of findings) {
    const place = path === undefined ? '' : `  ${plainLine(path)}${line === undefined ? '' : `:${line}`}`
    stream.write(`\n  ${paint[severity](severity)} ${dim(code)}${dim(place)}\n`)
    for (const text of wrapText(plainLine(message), columns - 5)) stream.write(`    ${text}\n`)
    for (const text of wrapText(plainLine(suggestion), columns - 5)) stream.write(`    ${dim(text)}\n`)
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.filter(({ severity }) => severity === 'warning').length
  if (findings.length > 0) stream.write(`\n${counted(errors, 'error')}, ${counted(warnings, 'warning')}\n`)
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
  const row =
    (type: string) =>
    (component: { readonly name: string; readonly cli_name: string; readonly description: string }): Row => ({
      type,
      name: component.name,
      cliName: component.cli_name,
      description: component.description,
    })
  return [
    ...components.skills.map(row('skill')),
    ...components.agents.map(row('agent')),
    ...components.commands.map((command) => ({ ...row('command')(command), cliName: command.invocation })),
    ...components.hooks.map(row('hook')),
    ...components.mcp_servers.map(row('mcp')),
  ]
}
