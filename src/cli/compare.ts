import { Command, InvalidArgumentError, Option } from 'commander'
import type { Comparison } from '../core/comparison.ts'
import { GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'
import { repeated, wholeNumber } from './flag-values.ts'

interface CompareFlags {
  readonly margin: number
  readonly map?: readonly string[]
  readonly seed: number
  readonly failOn: 'worse' | 'inconclusive' | 'regression'
  readonly strict?: boolean | undefined
  readonly reporter?: readonly string[]
  readonly json?: boolean
}

export function compareCommand(context: CliContext): Command {
  return new Command('compare')
    .argument(
      '<a>',
      "a run ('latest~1', 'blessed', an id), one agent, arm or model of a run ('latest:NAME'), or a baseline file",
    )
    .argument('<b>', 'what is compared with it')
    .addOption(marginOption().default(0.05, '5'))
    .option('--map <old=new>', 'an agent that has another name in B; repeatable', repeated)
    .option('--seed <n>', 'seed of the draws', wholeNumber, 1)
    .addOption(failOnOption().default('worse'))
    .option('--strict', 'exit code 4 when it is inconclusive')
    .option('--reporter <name[:path]>', 'console, json, md or github; repeatable', repeated)
    .option('--json', 'print one JSON document and nothing else on standard output')
    .action(async (a: string, b: string, flags: CompareFlags) => {
      const { openProjectStore } = await import('../config/open-project-store.ts')
      const { compareSides } = await import('../scenario/compare-sides.ts')
      const options = { ...flags, cwd: context.cwd }
      for (const comparison of (await compareSides(openProjectStore(context), [a, b], options)).comparisons) {
        await print(comparison, flags, context)
        context.setExitCode(codeOf(comparison, flags))
      }
    })
}

export function marginOption(): Option {
  return new Option('--margin <points>', 'percentage points of a comparison that do not matter').argParser(
    marginOf,
  )
}

export function failOnOption(): Option {
  return new Option('--fail-on <what>', 'what a comparison must find for exit code 1').choices([
    'worse',
    'inconclusive',
    'regression',
  ])
}

/** Not worse is 0. With `--strict` an open question is 4. */
export function codeOf(
  { verdict, regressions }: Comparison,
  { failOn, strict }: Pick<CompareFlags, 'failOn' | 'strict'>,
): ExitCode {
  if (verdict === 'worse') return exitCode.failed
  if (failOn === 'inconclusive' && verdict === 'inconclusive') return exitCode.failed
  if (failOn === 'regression' && regressions.length > 0) return exitCode.failed
  return strict === true && verdict === 'inconclusive' ? exitCode.inconclusive : exitCode.pass
}

const reporterNames = ['console', 'json', 'md', 'github'] as const
type ReporterName = (typeof reporterNames)[number]

async function print(comparison: Comparison, flags: CompareFlags, context: CliContext): Promise<void> {
  const { comparisonSections } = await import('../report/comparison-sections.ts')
  const { sectionLines } = await import('../report/console/section-lines.ts')
  const { sectionMarkdown } = await import('../report/md/md.ts')
  const { palette } = await import('../report/console/palette.ts')
  const named = [...(flags.reporter ?? []), ...(flags.json === true ? ['json'] : [])]
  const sections = comparisonSections(comparison)
  const { columns = 80, color } = context.stdout
  const markdown = (): string => sections.map(sectionMarkdown).join('')
  const texts: Readonly<Record<ReporterName, () => string>> = {
    console: () =>
      `${sections.flatMap((section) => sectionLines(section, columns, palette(color, false))).join('\n')}\n`,
    json: () => `${JSON.stringify(comparison, null, 2)}\n`,
    md: markdown,
    github: markdown,
  }
  const { appendFileSync } = await import('node:fs')
  const { resolve } = await import('node:path')
  const { writeFileAtomic } = await import('../io/files.ts')
  const specs = (named.length === 0 ? ['console'] : named).map((spec) => {
    const [name = '', ...rest] = spec.split(':')
    return { name: reporterName(name), path: rest.join(':') }
  })
  for (const { name, path } of specs) {
    const text = texts[name]()
    const summary = name === 'github' ? (context.env.GITHUB_STEP_SUMMARY ?? '') : ''
    if (path !== '') writeFileAtomic(resolve(context.cwd, path), text)
    else if (summary !== '') appendFileSync(summary, text)
    // With --json nothing else is printed on standard output.
    else (flags.json === true && name !== 'json' ? context.stderr : context.stdout).write(text)
  }
}

function reporterName(name: string): ReporterName {
  const found = reporterNames.find((each) => each === name)
  if (found !== undefined) return found
  throw new GantryError('USAGE', `there is no reporter ${JSON.stringify(name)} for a comparison`, {
    hint: `Use one of: ${reporterNames.join(', ')}.`,
  })
}

function marginOf(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && number > 0 && number < 100) return number / 100
  throw new InvalidArgumentError('Write percentage points above 0 and below 100, for example 5.')
}
