import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import type { GraderTarget, PluginScenario } from '../../generate/contract.ts'
import { traceLines } from './trace-lines.ts'

/** What a trial left for graders. */
export interface GradedTrial {
  readonly scenario: PluginScenario
  readonly execution: Execution
  readonly transcript: PluginTranscript | null
}

export type TargetText =
  | { readonly kind: 'text'; readonly label: string; readonly text: string }
  /** There is nothing to look at, and the grader does not pass for it. */
  | { readonly kind: 'nothing'; readonly why: string }

/** What a grader looks at. `shortTrace`: the first and last messages of a trace only, for a judge. */
export function targetText(
  target: GraderTarget,
  trial: GradedTrial,
  { shortTrace = false }: { readonly shortTrace?: boolean } = {},
): TargetText {
  const { scenario, execution, transcript } = trial
  if (typeof target === 'object') return fileText(target.path, execution)
  switch (target) {
    case 'last_message':
      return { kind: 'text', label: target, text: execution.final_text ?? '' }
    case 'trace': {
      const lines = traceLines(transcript, scenario, execution)
      return { kind: 'text', label: target, text: (shortTrace ? shortened(lines) : lines).join('\n') }
    }
    case 'files':
      return { kind: 'text', label: target, text: createdFiles(execution).join('\n') }
    case 'mock_calls':
      return { kind: 'nothing', why: 'no mocks took part in this trial, so there are no calls of them' }
  }
}

/** Paths of files that were made during the trial, in the workspace, sorted. */
export function createdFiles({ workspace_changes }: Execution): readonly string[] {
  return workspace_changes
    .filter(({ kind }) => kind === 'created')
    .map(({ path }) => path)
    .sort()
}

const ends = 12

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= 2 * ends) return lines
  const missing = lines.length - 2 * ends
  return [...lines.slice(0, ends), `[${missing} messages are left out here]`, ...lines.slice(-ends)]
}

function fileText(path: string, { kept_files: kept }: Execution): TargetText {
  const file = kept?.[path]
  if (file === undefined) return { kind: 'nothing', why: `${path} was not kept when the agent finished` }
  if (file.kind === 'missing') return { kind: 'nothing', why: `there is no ${path} in the workspace` }
  if (file.kind === 'refused') return { kind: 'nothing', why: file.reason }
  return { kind: 'text', label: `file ${path}`, text: file.text }
}
