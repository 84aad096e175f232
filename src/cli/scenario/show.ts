import { Command } from 'commander'
import pc from 'picocolors'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'

export function showCommand(context: CliContext): Command {
  return new Command('show')
    .description('Show one scenario: its prompt, its setup and its gates.')
    .argument('<name>', 'file or name of the scenario')
    .option('--json', 'print JSON, defaults filled in')
    .action(async (name: string, flags: { readonly json?: boolean }) => {
      const { loadScenarios } = await import('../../scenario/load-case.ts')
      const { cases } = await loadScenarios([name], {}, context)
      const [entry] = cases
      if (entry === undefined || cases.length > 1) {
        throw new GantryError('USAGE', `'${name}' names ${cases.length} scenarios`, {
          hint: 'Name one of them.',
        })
      }
      const { scenario, target, templateDir, rubric, shownFile } = entry
      if (flags.json === true) {
        const resolved = { file: entry.file, template_dir: templateDir, rubric_file: rubric?.path ?? null }
        return context.stdout.write(`${JSON.stringify({ ...scenario, target, resolved }, null, 2)}\n`)
      }
      const { bold, dim } = pc.createColors(context.stdout.color)
      const row = (label: string, text: string): void =>
        context.stdout.write(`${dim(label.padEnd(10))} ${text}\n`)
      context.stdout.write(`${bold(scenario.name)}\n${scenario.description.trim()}\n\n`)
      row('file', shownFile)
      row('target', target.binary)
      row('template', templateDir)
      row('tier', `${scenario.tier}${scenario.tags.map((tag) => ` #${tag}`).join('')}`)
      if (scenario.setup.commands.length > 0) row('setup', scenario.setup.commands.join('\n           '))
      row('oracle', scenario.oracle?.command ?? 'none')
      if (rubric !== null) {
        row(
          'judge',
          `${rubric.path} (${scenario.evaluation.judge?.mode === 'pairwise' ? 'pairwise' : `threshold ${scenario.evaluation.judge?.pass_threshold}`})`,
        )
      }
      context.stdout.write(`\n${bold('Prompt')}\n${scenario.task.prompt.trimEnd()}\n\n${bold('Gates')}\n`)
      for (const [index, { type, ...parameters }] of scenario.evaluation.gates.entries()) {
        const words = Object.entries(parameters).map(
          ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        context.stdout.write(
          `${String(index + 1).padStart(2)}. ${type}${words.length === 0 ? '' : dim(`  ${words.join(' · ')}`)}\n`,
        )
      }
    })
}
