import type { AgentEvent, Untimed } from '../../core/event.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { SetupMessage } from '../generate/contract.ts'
import type { TranscriptEvent } from './contract.ts'

export interface TranscriptFold {
  /** What was said before the scenario, and the prompt itself: the agent does not repeat them. */
  say(message: SetupMessage, timestamp: number): void
  add(event: Untimed<AgentEvent>, timestamp: number): void
  events(): readonly TranscriptEvent[]
  /** Answers of the model on the main thread. */
  turns(): number
}

type Spoken = Extract<TranscriptEvent, { type: 'user' | 'assistant' }>

/** The conversation as the format v3.0 has it: an answer holds the tools it called. */
export function foldTranscript(): TranscriptFold {
  const events: TranscriptEvent[] = []
  /** Answers that may still get a call, by the subagent that gives them. */
  const open = new Map<string, number>()
  let turns = 0

  const speak = (
    role: 'user' | 'assistant',
    content: string,
    timestamp: number,
    parent: string | undefined,
  ) => {
    events.push({
      id: eventId(timestamp),
      type: role,
      edit: { message: { role, content } },
      ...(parent !== undefined && { parent_tool_use_id: parent }),
    })
    if (role === 'user') open.delete(parent ?? '')
    else answer(parent)
  }
  /** Everything an answer consists of stands together, until a result or somebody else's words follow. */
  const answer = (parent: string | undefined): void => {
    if (parent === undefined && !open.has('')) turns += 1
    open.set(parent ?? '', events.length - 1)
  }
  const call = (
    { id = '', tool, input, parent_id }: Extract<Untimed<AgentEvent>, { event: 'tool_call' }>,
    timestamp: number,
  ) => {
    if (!open.has(parent_id ?? '')) speak('assistant', '', timestamp, parent_id)
    const at = open.get(parent_id ?? '') ?? -1
    const spoken = events[at] as Spoken
    const { message } = spoken.edit
    const tool_calls = [...(message.tool_calls ?? []), { id, name: tool, input }]
    events[at] = { ...spoken, edit: { message: { ...message, tool_calls } } }
  }

  return {
    say: ({ role, content }, timestamp) => {
      speak(role, content, timestamp, undefined)
      if (role === 'assistant') {
        turns -= 1
        open.delete('')
      }
    },
    add(event, timestamp) {
      switch (event.event) {
        case 'message':
          if (event.role === 'assistant' || event.role === 'user')
            speak(event.role, event.text, timestamp, event.parent_id)
          return
        case 'tool_call':
          return call(event, timestamp)
        case 'tool_result':
          events.push({
            id: eventId(timestamp),
            type: 'tool_result',
            tool_use_id: event.id ?? '',
            result: event.output,
            ...(event.is_error !== undefined && { is_error: event.is_error }),
            ...(event.parent_id !== undefined && { parent_tool_use_id: event.parent_id }),
          })
          open.delete(event.parent_id ?? '')
          return
        default:
          return
      }
    },
    events: () => [...events],
    turns: () => turns,
  }
}

function eventId(timestamp: number): string {
  return `evt_${Math.round(timestamp)}_${randomSuffix(6)}`
}
