import { join } from 'node:path'
import { z } from 'zod'
import { readJsonIfExists } from '../../io/files.ts'
import { directoryNames } from '../../io/list-directory.ts'
import { trialPath } from '../../store/run-paths.ts'
import type { OtherCosts } from '../evaluate/metrics/cost-tally.ts'
import {
  type EvaluationFiles,
  readExecution,
  readTrialEvaluation,
  readWhole,
  trialNames,
} from './evaluation-files.ts'

const metadataSchema = z.object({ cost_usd: z.number().nullable() })
const paidSchema = z.object({ costUsd: z.number().nullable() })

/** What earlier processes of the run paid: it counts against the budget. */
export interface Spent {
  readonly generation: number
  readonly execution: number
  readonly evaluation: number
}

export function spentSoFar(files: EvaluationFiles): Spent {
  let [execution, evaluation] = [0, 0]
  for (const id of trialNames(files)) {
    execution += readExecution(files, id)?.cost_usd ?? 0
    evaluation += Math.max(readTrialEvaluation(files, id)?.evaluation_cost_usd ?? 0, judgesUsd(files, id))
  }
  return { generation: generationUsd(files), execution, evaluation }
}

/** Includes trials that are not fully judged yet. */
function judgesUsd(files: EvaluationFiles, trialId: string): number {
  const dir = trialPath(files.dir, trialId)
  return sumOf(
    dir,
    (name) => name.startsWith('checkpoint-'),
    (value) => {
      const paid = paidSchema.safeParse(value)
      return paid.success ? (paid.data.costUsd ?? 0) : 0
    },
  )
}

/** Before the stage has ended, only the cost of each component is known. */
function generationUsd(files: EvaluationFiles): number {
  const metadata = metadataSchema.safeParse(readWhole(files.generationMetadata))
  if (metadata.success) return metadata.data.cost_usd ?? 0
  return sumOf(
    files.generatedDir,
    () => true,
    (value) => {
      const component = metadataSchema.safeParse(value)
      return component.success ? (component.data.cost_usd ?? 0) : 0
    },
  )
}

function sumOf(
  dir: string,
  isWanted: (name: string) => boolean,
  costOf: (value: object | null) => number,
): number {
  return (directoryNames(dir, Infinity) ?? [])
    .filter(({ name, leaf }) => leaf && isWanted(name))
    .reduce((sum, { name }) => sum + costOf(readWhole(join(dir, name))), 0)
}

const generationSchema = z.object({ cost_usd: z.number().nullable() })
const executionSchema = z.object({ load: z.object({ load_cost_usd: z.number() }).nullable() })

/** Costs outside of trials: generating scenarios, and checking what is loaded. */
export function otherCosts(files: EvaluationFiles): OtherCosts {
  const generation = generationSchema.safeParse(readJsonIfExists(files.generationMetadata))
  const execution = executionSchema.safeParse(readJsonIfExists(files.executionMetadata))
  return {
    generation_cost_usd: generation.success ? generation.data.cost_usd : 0,
    plugin_load_cost_usd: execution.success ? (execution.data.load?.load_cost_usd ?? 0) : 0,
  }
}
