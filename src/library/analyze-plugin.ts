import { z } from 'zod'
import { checkOptions } from '../io/check-options.ts'
import {
  type AnalyzeOptions,
  type AnalyzeOutcome,
  analyzePlugin as analyze,
} from '../plugin/analyze/analyze-plugin.ts'

const optionsSchema = z.strictObject({
  path: z.string(),
  cwd: z.string(),
  contextTokens: z.int().positive().optional(),
  crowd: z.array(z.string()).optional(),
})

/** Reads the files of a plugin. Starts nothing, calls no model, changes nothing. */
export async function analyzePlugin(options: AnalyzeOptions): Promise<AnalyzeOutcome> {
  checkOptions('analyzePlugin', optionsSchema, options)
  return analyze(options)
}
