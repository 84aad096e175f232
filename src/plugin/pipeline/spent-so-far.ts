import { join } from 'node:path'
import { z } from 'zod'
import { readJsonIfExists } from '../../io/files.ts'
import { directoryNames } from '../../io/list-directory.ts'
import { trialPath } from '../../store/run-paths.ts'
import type { OtherCosts } from '../evaluate/metrics/cost-tally.ts'
import { modelUseSchema } from '../generate/component-record.ts'
import {
  type EvaluationFiles,
  readExecution,
  readTrialEvaluation,
  readWhole,
  trialNames,
} from './evaluation-files.ts'

export type Spent = ReturnType<typeof spentSoFar>

/** What earlier processes of the run paid; it counts against the budget. */
export function spentSoFar(files: EvaluationFiles) {
  let [execution, evaluation] = [0, 0]
  for (const id of trialNames(files)) {
    execution += readExecution(files, id)?.cost_usd ?? 0
    // Includes trials that are not fully judged yet.
    const judgesUsd = sumOf(
      trialPath(files.dir, id),
      (name) => name.startsWith('checkpoint-'),
      ({ costUsd }) => costUsd,
    )
    evaluation += Math.max(readTrialEvaluation(files, id)?.evaluation_cost_usd ?? 0, judgesUsd)
  }
  const metadata = paid(files.generationMetadata)
  // Before the stage has ended, only the cost of each component is known.
  const generation =
    metadata?.cost_usd === undefined
      ? sumOf(
          files.generatedDir,
          () => true,
          ({ cost_usd }) => cost_usd,
        )
      : metadata.cost_usd
  return { generation: generation ?? 0, execution, evaluation }
}

const amount = z.number().nullable().optional()
const paidSchema = z.object({ cost_usd: amount, costUsd: amount })

function paid(path: string): z.output<typeof paidSchema> | null {
  return paidSchema.safeParse(readWhole(path)).data ?? null
}

function sumOf(
  dir: string,
  isWanted: (name: string) => boolean,
  costOf: (file: z.output<typeof paidSchema>) => number | null | undefined,
): number {
  return (directoryNames(dir, Infinity) ?? [])
    .filter(({ name, leaf }) => leaf && isWanted(name))
    .reduce((sum, { name }) => sum + (costOf(paid(join(dir, name)) ?? {}) ?? 0), 0)
}

const generationSchema = z.object({
  cost_usd: z.number().nullable(),
  usage: z.array(modelUseSchema).default([]),
})
const executionSchema = z.object({ load: z.object({ load_cost_usd: z.number() }).nullable() })

/** Costs outside of trials: generating scenarios, and checking what is loaded. */
export function otherCosts(files: EvaluationFiles): OtherCosts {
  const generation = generationSchema.safeParse(readJsonIfExists(files.generationMetadata))
  const execution = executionSchema.safeParse(readJsonIfExists(files.executionMetadata))
  return {
    generation_cost_usd: generation.success ? generation.data.cost_usd : 0,
    generation_usage: generation.success ? generation.data.usage : [],
    plugin_load_cost_usd: execution.success ? (execution.data.load?.load_cost_usd ?? 0) : 0,
  }
}
