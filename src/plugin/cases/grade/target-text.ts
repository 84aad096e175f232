import type { Execution, PluginTranscript, TranscriptEvent } from '../../execute/contract.ts'
import type { GraderTarget, PluginScenario } from '../../generate/contract.ts'

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
      return { kind: 'nothing', why: 'this trial had no mocks, so there are no mock calls' }
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

/**
 * A trial as Claude Code prints it with `--output-format stream-json`, one message per line: what graders of the format look at
 * as `trace`. As there, the prompt and the messages before it are not included.
 */
export function traceLines(
  transcript: PluginTranscript | null,
  { user_prompt: prompt }: Pick<PluginScenario, 'user_prompt'>,
  { final_text, termination_type }: Pick<Execution, 'final_text' | 'termination_type'>,
): readonly string[] {
  const events = transcript?.events ?? []
  const promptAt = events.findLastIndex(
    (event) =>
      event.type === 'user' &&
      event.parent_tool_use_id === undefined &&
      event.edit.message.content === prompt,
  )
  const result = {
    type: 'result',
    subtype: termination_type === 'clean' ? 'success' : 'error_during_execution',
    is_error: termination_type !== 'clean',
    result: final_text ?? '',
  }
  return [...events.slice(promptAt + 1).flatMap(linesOf), result].map((line) => JSON.stringify(line))
}

function linesOf(event: TranscriptEvent): readonly object[] {
  const parent_tool_use_id = event.parent_tool_use_id ?? null
  const line = (role: 'user' | 'assistant', block: object) => ({
    type: role,
    message: { role, content: [block] },
    parent_tool_use_id,
  })
  if (event.type === 'tool_result') {
    const { tool_use_id, result, is_error } = event
    return [
      line('user', {
        tool_use_id,
        type: 'tool_result',
        content: result,
        ...(is_error === true && { is_error }),
      }),
    ]
  }
  const { content, tool_calls: calls = [] } = event.edit.message
  return [
    ...(content === '' ? [] : [line(event.type, { type: 'text', text: content })]),
    ...calls.map(({ id, name, input }) => line('assistant', { type: 'tool_use', id, name, input })),
  ]
}
