import type { ReportSection } from '../../report/contract.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { EvaluationSummary } from '../evaluate/metrics/evaluation-summary.ts'
import { armSections, crowdSection } from './sections/arms.ts'
import { componentSection } from './sections/components.ts'
import { costSection } from './sections/costs.ts'
import { findingSection } from './sections/findings.ts'
import { firedInsteadSection } from './sections/fired-instead.ts'
import { flakySection } from './sections/flaky.ts'
import { recordingSection } from './sections/recording.ts'
import { scenarioKindSection, semanticSection } from './sections/scenario-kinds.ts'
import { changeSection } from './sections/what-to-change.ts'

/** What of an analysis the sections tell. */
export type AnalysisFacts = Pick<Analysis, 'components' | 'findings' | 'listing'>

/** What an evaluation has to tell people beyond its trials, most useful first. Sections with nothing to say are left out. */
export function evaluationSections(
  summary: EvaluationSummary,
  analysis: AnalysisFacts,
): readonly ReportSection[] {
  return [
    changeSection(summary, analysis),
    componentSection(summary),
    firedInsteadSection(summary),
    recordingSection(summary),
    ...armSections(summary),
    crowdSection(summary),
    flakySection(summary),
    scenarioKindSection(summary),
    semanticSection(summary),
    findingSection(analysis),
    costSection(summary),
  ].filter((section) => section !== null)
}
