import { Command } from 'commander'
import type { CliContext } from '../context.ts'

export function doctorCommand(context: CliContext): Command {
  return new Command('doctor')
    .description(
      'Show what works here: agent.yaml, agents, models, sandboxes; what each lacks, and the command that mends it.',
    )
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (flags: { readonly config?: string; readonly json?: boolean }) => {
      const { examine } = await import('./examine.ts')
      const { printFindings } = await import('./print-findings.ts')
      const findings = await examine(context, flags.config)
      if (flags.json === true) context.stdout.write(`${JSON.stringify({ findings }, null, 2)}\n`)
      else printFindings(findings, context)
    })
}
