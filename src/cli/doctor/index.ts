import { Command } from 'commander'
import { createColors } from 'picocolors'
import { displayWidth, padRight, wrapWords } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import type { DoctorFinding } from './examine-agents.ts'

export function doctorCommand(context: CliContext): Command {
  return new Command('doctor')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (flags: { readonly config?: string; readonly json?: boolean }) => {
      const { examine } = await import('./examine.ts')
      const findings = await examine(context, flags.config)
      if (flags.json === true) context.stdout.write(`${JSON.stringify({ findings }, null, 2)}\n`)
      else printFindings(findings, context)
    })
}

const titles: Readonly<Record<DoctorFinding['area'], string>> = {
  gantry: 'Gantry',
  agents: 'Agents',
  models: 'Models Gantry itself can use',
  sandboxes: 'Sandbox engines',
}

/** Below this width, a detail gets its own lines. */
const detailMin = 30

/** The findings, wrapped to the terminal, each followed by its unwrapped fix, so that it can be copied. */
function printFindings(findings: readonly DoctorFinding[], { stdout }: CliContext): void {
  const paint = createColors(stdout.color)
  const mark = { ok: paint.green('ok'), lacking: paint.yellow('!!'), missing: paint.dim('--') }
  const width = Math.max(...findings.map(({ name }) => displayWidth(name)))
  const isNarrow = stdout.columns - width - 8 < detailMin
  const indent = ' '.repeat(isNarrow ? 6 : width + 8)
  for (const [area, title] of Object.entries(titles)) {
    stdout.write(`${paint.bold(title)}\n`)
    for (const { name, status, detail, fix } of findings.filter((finding) => finding.area === area)) {
      const [first = '', ...rest] = wrapWords(plainLine(detail), stdout.columns - indent.length)
      const shown = plainLine(name)
      const lines = isNarrow ? [shown, `${indent}${first}`] : [`${padRight(shown, width)}  ${first}`]
      stdout.write(`  ${mark[status]}  ${[...lines, ...rest.map((line) => indent + line)].join('\n')}\n`)
      if (fix !== undefined) stdout.write(`${indent}${paint.cyan(fix)}\n`)
    }
    stdout.write('\n')
  }
  stdout.write(`${mark.ok} works   ${mark.lacking} works only partly   ${mark.missing} not usable\n`)
}
