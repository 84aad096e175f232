import { asObjects, asString } from '../../../core/json-fields.ts'
import type { Execution, PluginTranscript, TranscriptEvent } from '../../execute/contract.ts'
import type { GraderTarget, PluginScenario } from '../../generate/contract.ts'

export interface GradedTrial {
  readonly scenario: PluginScenario
  readonly execution: Execution
  readonly transcript: PluginTranscript | null
}

export type TargetText =
  | { readonly kind: 'text'; readonly label: string; readonly text: string }
  /** There is nothing to look at, so the grader does not pass. */
  | { readonly kind: 'nothing'; readonly why: string }

/** The text a grader looks at. `shortTrace`: only the first and last messages of a trace, for a judge. */
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
      return scenario.case?.mocks === undefined
        ? { kind: 'nothing', why: 'this trial had no mocks, so there are no mock calls' }
        : {
            kind: 'text',
            label: target,
            text: mockCalls(trial)
              .map((call) => JSON.stringify(call))
              .join('\n'),
          }
  }
}

/** Calls of mocked tools and their answers, as the built-in runner shows them. */
export function mockCalls({ scenario, transcript }: GradedTrial) {
  const prefixes = (scenario.case?.mocks ?? []).map(
    ({ cli_name }) => `mcp__${cli_name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__`,
  )
  const events = transcript?.events ?? []
  const results = new Map(
    events.flatMap((event) => (event.type === 'tool_result' ? [[event.tool_use_id, event] as const] : [])),
  )
  return events
    .flatMap((event) => (event.type === 'tool_result' ? [] : (event.edit.message.tool_calls ?? [])))
    .filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)))
    .map(({ id, name, input }) => {
      const answer = results.get(id)
      const isError = answer?.is_error === true
      return {
        tool: name,
        input,
        output: resultText(answer?.result),
        ...(isError && { isError }),
        verdict: isError ? 'tool_error' : 'ok',
      }
    })
}

/** A result is a text, or a list of blocks with texts. */
function resultText(result: unknown): string {
  if (typeof result === 'string') return result
  return asObjects(result)
    .map(({ text }) => asString(text) ?? '')
    .join('\n')
}

/** Paths of files created during the trial, in the workspace, sorted. */
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
  if (file === undefined) return { kind: 'nothing', why: `${path} was not stored when the agent finished` }
  if (file.kind === 'missing') return { kind: 'nothing', why: `${path} does not exist in the workspace` }
  if (file.kind === 'refused') return { kind: 'nothing', why: file.reason }
  return { kind: 'text', label: `file ${path}`, text: file.text }
}

/**
 * A trial as Claude Code prints it with `--output-format stream-json`, one message per line: the `trace` of graders. Like there,
 * it does not include the prompt and the messages before it.
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
