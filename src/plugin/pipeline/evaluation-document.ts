import { GantryError } from '../../core/error.ts'
import { readJsonIfExists } from '../../io/files.ts'
import { fileOutput } from '../../io/text-output.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { TrialEvaluation } from '../evaluate/contract.ts'
import type { EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import type { PluginTrial } from '../execute/contract.ts'
import { type EvaluationFiles, readTrialEvaluation } from './evaluation-files.ts'

/** `evaluation.json` without its results. */
export interface EvaluationHead {
  readonly schema_version: 1
  readonly run_id: string
  readonly run_dir: string
  readonly plugin_name: string
  readonly plugin_path: string
  readonly content_hash: string
  readonly agent: string
  readonly agent_version: string | null
  readonly model: string
  readonly timestamp: string
  readonly summary: EvaluationSummary
  readonly findings: Analysis['findings']
  readonly listing: Analysis['listing']
  readonly plugin_load_result: Analysis['plugin_load_result']
  /** Planned and not run. */
  readonly not_run: readonly string[]
}

/** `evaluation.json`, and what `gantry plugin run --json` prints. */
export interface EvaluationDocument extends EvaluationHead {
  readonly results: readonly TrialEvaluation[]
}

/** Writes the document one result at a time, because a run may have thousands. */
export function writeEvaluationDocument(
  files: EvaluationFiles,
  head: EvaluationHead,
  trials: readonly PluginTrial[],
): void {
  const file = fileOutput(files.evaluation)
  try {
    file.write(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "results": [`)
    let separator = '\n'
    for (const { id } of trials) {
      const evaluation = readTrialEvaluation(files, id)
      if (evaluation === null) continue
      file.write(`${separator}    ${JSON.stringify(evaluation)}`)
      separator = ',\n'
    }
    file.write('\n  ]\n}\n')
    file.close()
  } catch (error) {
    file.discard()
    throw error
  }
}

/** null when the run has not got that far, or the file is damaged. */
export function readEvaluationHead(files: EvaluationFiles): EvaluationHead | null {
  try {
    const value = readJsonIfExists(files.evaluation)
    return typeof value === 'object' && value !== null && 'summary' in value
      ? (value as EvaluationHead)
      : null
  } catch (error) {
    if (error instanceof GantryError && error.code === 'CORRUPT') return null
    throw error
  }
}
