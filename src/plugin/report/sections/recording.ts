import type { ReportSection } from '../../../report/contract.ts'
import type { EvaluationSummary } from '../../evaluate/metrics/evaluation-summary.ts'

/** Trials whose cassette does not answer what the agent asks now. */
export function recordingSection({ needs_recording }: EvaluationSummary): ReportSection | null {
  if (needs_recording.length === 0) return null
  return {
    title: 'To be recorded again',
    lead: 'No recording fits what the agent asks its model now: the plugin, the scenario or the agent has changed, or it was never recorded. Run with --replay auto, or --replay record for all.',
    columns: [{ title: 'trial' }],
    rows: needs_recording.map((trial) => [trial]),
  }
}
