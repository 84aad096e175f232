import { Command } from 'commander'
import pc from 'picocolors'
import { counted } from '../../core/counted.ts'
import type { CliContext } from '../context.ts'
import { list, repeated, wholeNumber } from '../flag-values.ts'

interface ListFlags {
  readonly filter?: string[]
  readonly tag?: string[]
  readonly allTags?: boolean
  readonly tier?: number
  readonly json?: boolean
}

export function listCommand(context: CliContext): Command {
  return new Command('list')
    .description('List scenarios with their tags and tiers.')
    .argument('[path...]', 'files, directories, globs or names (default: those of gantry.yaml)')
    .option('--filter <glob>', 'only scenarios whose name matches', repeated)
    .option('--tag <tag>', 'only scenarios with any of these tags', list)
    .option('--all-tags', 'require every --tag instead of any of them')
    .option('--tier <n>', 'only scenarios up to this tier', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (paths: string[], flags: ListFlags) => {
      const { loadScenarios } = await import('../../scenario/load-case.ts')
      const { filter = [], tag = [], allTags = false, tier } = flags
      const selection = { filters: filter, tags: tag, allTags, ...(tier !== undefined && { tier }) }
      const { cases } = await loadScenarios(paths, selection, context)
      const rows = cases.map(({ name, shownFile, scenario }) => ({
        name,
        file: shownFile,
        description: scenario.description,
        tags: scenario.tags,
        tier: scenario.tier,
        gates: scenario.evaluation.gates.length,
        judge: scenario.evaluation.judge?.enabled === true,
      }))
      if (flags.json === true) return context.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
      const { bold, dim } = pc.createColors(context.stdout.color)
      for (const row of rows) {
        const facts = [
          `tier ${row.tier}`,
          ...row.tags.map((tag) => `#${tag}`),
          counted(row.gates, 'gate'),
          ...(row.judge ? ['judge'] : []),
        ]
        context.stdout.write(
          `${bold(row.name)}  ${dim(facts.join(' '))}\n  ${row.description.trim()}\n  ${dim(row.file)}\n`,
        )
      }
    })
}
