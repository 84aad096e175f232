import { confidences, type Detection, type PluginJudgement, type TrialEvaluation } from './contract.ts'
import type { Ambiguity } from './is-ambiguous.ts'

export interface TriggerFacts {
  readonly mode: 'programmatic_first' | 'llm_only'
  /** Of the expected component. */
  readonly detection: Detection | undefined
  readonly ambiguity: Ambiguity | null
  readonly judgement: Pick<PluginJudgement, 'triggered'> | null
}

export type TriggerDecision = Pick<TrialEvaluation, 'triggered' | 'confidence' | 'detection_source'>

/**
 * Whether the expected component fired, how certain that is, and who says so. Traces decide; a judge only where they are
 * ambiguous, or everywhere with `llm_only`. null when the judge alone may decide and has not spoken.
 */
export function decideTrigger({
  mode,
  detection,
  ambiguity,
  judgement,
}: TriggerFacts): TriggerDecision | null {
  const word = judgement?.triggered ?? null
  const seen = detection !== undefined
  if (mode === 'llm_only')
    return word === null ? null : { triggered: word, confidence: confidences.llm, detection_source: 'llm' }
  if (ambiguity === null || word === null)
    return {
      triggered: seen,
      confidence: seen ? detection.confidence : ambiguity === null ? 1 : confidences.transcript,
      detection_source: word === seen ? 'both' : 'programmatic',
    }
  if (word !== seen) return { triggered: word, confidence: confidences.llm, detection_source: 'llm' }
  return {
    triggered: seen,
    confidence: seen ? detection.confidence : confidences.llm,
    detection_source: 'both',
  }
}
