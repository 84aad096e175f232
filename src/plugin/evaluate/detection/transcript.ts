import type { Execution, PluginTranscript, TranscriptEvent } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import type { OwnWords } from '../own-words.ts'
import type { ToolOutcomes } from './correlation.ts'
import { detectionOf } from './detection-of.ts'
import type { FoundComponent } from './found-component.ts'
import type { KnownComponents } from './known-components.ts'
import { commandComponent, toolComponent } from './tool-component.ts'

type Message = Extract<TranscriptEvent, { readonly edit: unknown }>

/**
 * What the transcript alone tells, for trials in which nothing else saw anything: calls of tools that did not fail, and
 * commands the CLI expanded. What we said ourselves proves nothing.
 */
export function detectFromTranscript(
  transcript: PluginTranscript,
  execution: Pick<Execution, 'trial' | 'expansions'>,
  outcomes: ToolOutcomes,
  known: KnownComponents,
  ownWords: OwnWords,
): Detection[] {
  const { arm } = execution.trial
  let ours = ownWords.userMessages
  return transcript.events.flatMap((event, index): Detection[] => {
    if (event.type === 'tool_result') return []
    const { content, tool_calls = [] } = event.edit.message
    if (event.type === 'assistant')
      return tool_calls
        .filter(({ id }) => outcomes.get(id) !== false)
        .flatMap((call) =>
          found(toolComponent(call, known, arm), `calls ${call.name} for`, event, index, call.id),
        )
    // In a subagent's prompt a slash is a word like any other: nobody expands it there.
    if (event.parent_tool_use_id !== undefined) return []
    ours -= 1
    if (execution.expansions.length > 0 || ownWords.texts.has(content.trim())) return []
    const command = (name: string | undefined) =>
      name === undefined ? null : commandComponent(name, known, arm)
    const told = command(/<command-name>\s*(\/?[^\s<]+)/.exec(content)?.[1])
    const typed = ours >= 0 ? null : command(/^\s*\/([^\s/]\S*)/.exec(content)?.[1])
    // A path begins with a slash, too: what nobody we know is called is no command.
    return found(told ?? (typed?.plugin == null ? null : typed), 'shows the command', event, index)
  })
}

function found(
  component: FoundComponent | null,
  what: string,
  { id, parent_tool_use_id }: Message,
  index: number,
  callId?: string,
): Detection[] {
  if (component === null) return []
  const inside = parent_tool_use_id === undefined ? '' : ' inside a subagent'
  return [
    detectionOf(component, {
      source: 'transcript',
      evidence: `${id} of the transcript ${what} ${component.cli_name}${inside}`,
      timestamp: timeOf(id) ?? index,
      ...(callId !== undefined && { tool_use_id: callId }),
    }),
  ]
}

/** Ids of events carry the moment: `evt_<ms>_<random>`. */
function timeOf(id: string): number | null {
  const ms = /^evt_(\d{1,15})_/.exec(id)?.[1]
  return ms === undefined ? null : Number(ms)
}
