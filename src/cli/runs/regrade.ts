import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'
import { reporterOption, usd } from '../flag-values.ts'
import { type ReportFlags, report } from './report.ts'

export function regradeCommand(context: CliContext): Command {
  return new Command('regrade')
    .description(
      'Grade the stored work of a run by the scenarios as they are now, as a new run. No agent runs, and nothing is paid but the judge.',
    )
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .option('--judge', 'ask the judge again; without it the earlier answers stay')
    .option(
      '--judge-model <name>',
      'provider:model of the judge (else GANTRY_JUDGE_MODEL, or that of the run)',
    )
    .option('--max-cost-usd <usd>', 'stop when the judge has cost this much', usd)
    .addOption(reporterOption())
    .option('--json', 'print one JSON document and nothing else on standard output')
    .action(async (wanted: string, flags: RegradeFlags) => {
      await regrade(wanted, flags, context)
    })
}

interface RegradeFlags extends ReportFlags {
  readonly judge?: boolean
  readonly judgeModel?: string
  readonly maxCostUsd?: number
}

async function regrade(wanted: string, flags: RegradeFlags, context: CliContext): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { regradeRun } = await import('../../scenario/regrade.ts')
  const { codeOfRun } = await import('../run-test.ts')
  const { env, signal } = context
  if (flags.judge !== true && (flags.judgeModel ?? flags.maxCostUsd) !== undefined)
    throw new GantryError('USAGE', '--judge-model and --max-cost-usd are for the judge', {
      hint: 'Add --judge, or remove them.',
    })
  const store = openProjectStore(context)
  const judge = flags.judge === true ? await openJudge(wanted, flags, context) : null
  const argv = ['gantry', ...process.argv.slice(2)]
  const result = await regradeRun(store, wanted, { env, signal, argv, ...(judge !== null && { judge }) })
  await report(result.runId, flags, context, codeOfRun(result, {}))
}

async function openJudge(wanted: string, flags: RegradeFlags, { env, cwd }: CliContext) {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { loadProject } = await import('../../config/load.ts')
  const { frozenRequest } = await import('../../scenario/request.ts')
  const { createBudget } = await import('../../models/budget.ts')
  const { resolveModel } = await import('../../models/index.ts')
  const request = frozenRequest(openProjectStore({ env, cwd }), wanted)
  const name = flags.judgeModel ?? env.GANTRY_JUDGE_MODEL ?? request.judgeModel
  if (name === undefined)
    throw new GantryError('USAGE', 'no judge model was given', {
      hint: 'Set one with --judge-model or GANTRY_JUDGE_MODEL.',
    })
  const budget = createBudget(flags.maxCostUsd ?? null)
  const { config } = loadProject(request.cwd, request.configFile)
  return {
    model: await resolveModel(name, { env, base: request.cwd, budget, prices: config.models }),
    budget,
  }
}
