import { z } from 'zod'
import { readJsonIfExists } from '../../io/files.ts'
import type { OtherCosts } from '../evaluate/metrics/cost-tally.ts'
import type { EvaluationFiles } from './evaluation-files.ts'

const generationSchema = z.object({ cost_usd: z.number().nullable() })
const executionSchema = z.object({ load: z.object({ load_cost_usd: z.number() }).nullable() })

/** What was paid outside of trials: for writing scenarios, and for seeing what is loaded. */
export function otherCosts(files: EvaluationFiles): OtherCosts {
  const generation = generationSchema.safeParse(readJsonIfExists(files.generationMetadata))
  const execution = executionSchema.safeParse(readJsonIfExists(files.executionMetadata))
  return {
    generation_cost_usd: generation.success ? generation.data.cost_usd : 0,
    plugin_load_cost_usd: execution.success ? (execution.data.load?.load_cost_usd ?? 0) : 0,
  }
}
