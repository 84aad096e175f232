import { shorten } from '../../core/shorten.ts'
import { checkAnswer, type JsonAnswer } from './answer-schema.ts'
import type { Noticed } from './contract.ts'
import { powersOf } from './event-powers.ts'

export interface Stdout {
  readonly answer: JsonAnswer | null
  /** It counts as plain text: no JSON, or none that parses. JSON that does not fit is dropped as a whole. */
  readonly isText: boolean
  readonly noticed: readonly Noticed[]
}

/** Only a text that is one JSON object from its first character to its last is an answer. */
export function readStdout(stdout: string, event: string): Stdout {
  const text = stdout.trim()
  if (text === '') return { answer: null, isText: true, noticed: [] }
  if (!text.startsWith('{')) return { answer: null, isText: true, noticed: chatter(text, event) }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const code = startsWithObject(text) ? 'HOOK_TEXT_AROUND_JSON' : 'HOOK_BROKEN_JSON'
    return { answer: null, isText: true, noticed: [{ code, detail: `stdout is ${shown(text)}` }] }
  }
  const isSpecific = typeof value === 'object' && value !== null && 'hookSpecificOutput' in value
  if (isSpecific && !powersOf(event).specific) {
    const code = event === 'PreCompact' ? 'HOOK_PRECOMPACT_CONTEXT' : 'HOOK_OUTPUT_NOT_ALLOWED'
    return dropped({ code, detail: `${event} takes no hookSpecificOutput` })
  }
  const checked = checkAnswer(event, value)
  switch (checked.kind) {
    case 'valid':
      return isPasted(checked.answer, event)
        ? {
            answer: null,
            isText: true,
            noticed: [{ code: 'HOOK_PRECOMPACT_STDOUT', detail: `stdout is ${shown(text)}` }],
          }
        : { answer: checked.answer, isText: false, noticed: [] }
    case 'other event':
      return dropped({
        code: 'HOOK_WRONG_EVENT_NAME',
        detail: `hookEventName is ${checked.named}, the event is ${event}`,
      })
    case 'invalid':
      return dropped({ code: 'HOOK_OUTPUT_INVALID', detail: checked.message })
  }
}

function dropped(noticed: Noticed): Stdout {
  return { answer: null, isText: false, noticed: [noticed] }
}

function chatter(text: string, event: string): readonly Noticed[] {
  const detail = `stdout is ${shown(text)}`
  if (/\{\s*"(?:hookSpecificOutput|decision|continue|systemMessage)"/.test(text))
    return [{ code: 'HOOK_TEXT_AROUND_JSON', detail }]
  switch (powersOf(event).plainText) {
    case 'summary':
      return [{ code: 'HOOK_PRECOMPACT_STDOUT', detail }]
    case 'unused':
      return [{ code: 'HOOK_STDOUT_UNUSED', detail }]
    case 'context':
    case 'path':
      return []
  }
}

/** Before a compaction even valid JSON is given to the summariser as it is, unless it blocks. */
function isPasted({ decision }: JsonAnswer, event: string): boolean {
  return powersOf(event).plainText === 'summary' && decision !== 'block'
}

/** Whether a whole object stands at the beginning, so that only what follows is too much. */
function startsWithObject(text: string): boolean {
  for (
    let end = text.indexOf('}'), tries = 0;
    end !== -1 && tries < 64;
    end = text.indexOf('}', end + 1), tries++
  ) {
    try {
      JSON.parse(text.slice(0, end + 1))
      return true
    } catch {
      // The object goes on behind this brace.
    }
  }
  return false
}

function shown(text: string): string {
  return JSON.stringify(shorten(text, 160))
}
