import { z } from 'zod'
import { shorten } from '../../core/shorten.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import { plainTextOf } from './event-effects.ts'
import type { LabFinding } from './finding-log.ts'

export interface Stdout {
  readonly answer: JsonAnswer | null
  /** Treated as plain text: not JSON, or invalid JSON. JSON with wrong fields is dropped entirely. */
  readonly isText: boolean
  readonly noticed: readonly LabFinding[]
}

/** Only a text that is exactly one JSON object is an answer. */
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
  if (isSpecific && (hookEvents.get(event)?.output ?? null) === null) {
    const code = event === 'PreCompact' ? 'HOOK_PRECOMPACT_CONTEXT' : 'HOOK_OUTPUT_NOT_ALLOWED'
    return dropped({ code, detail: `${event} does not support hookSpecificOutput` })
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

function dropped(noticed: LabFinding): Stdout {
  return { answer: null, isText: false, noticed: [noticed] }
}

function chatter(text: string, event: string): readonly LabFinding[] {
  const detail = `stdout is ${shown(text)}`
  if (/\{\s*"(?:hookSpecificOutput|decision|continue|systemMessage)"/.test(text))
    return [{ code: 'HOOK_TEXT_AROUND_JSON', detail }]
  switch (plainTextOf(event)) {
    case 'summary':
      return [{ code: 'HOOK_PRECOMPACT_STDOUT', detail }]
    case 'unused':
      return [{ code: 'HOOK_STDOUT_UNUSED', detail }]
    case 'context':
    case 'path':
      return []
  }
}

/** Before a compaction even valid JSON is passed to the summariser unchanged, unless it blocks. */
function isPasted({ decision }: JsonAnswer, event: string): boolean {
  return plainTextOf(event) === 'summary' && decision !== 'block'
}

/** Whether the text is a complete JSON object followed by something else. */
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
      // The object continues after this brace.
    }
  }
  return false
}

function shown(text: string): string {
  return JSON.stringify(shorten(text, 160))
}

const text = z.string().optional()
const flag = z.boolean().optional()
const object = z.record(z.string(), z.unknown()).optional()

/** The types of fields in `hook-events.yaml`. */
const fieldTypes: Readonly<Record<string, z.ZodType>> = {
  text,
  flag,
  object,
  texts: z.array(z.string()).optional(),
  permission: z
    .discriminatedUnion('behavior', [
      z.looseObject({
        behavior: z.literal('allow'),
        updatedInput: object,
        updatedPermissions: z.array(z.unknown()).optional(),
      }),
      z.looseObject({ behavior: z.literal('deny'), message: text, interrupt: flag }),
    ])
    .optional(),
}

/** `hookSpecificOutput` of an event. Unknown keys are ignored. */
function outputSchema(event: string): z.ZodType {
  const fields = Object.entries(hookEvents.get(event)?.output ?? {}).map(([name, type]) => [
    name,
    Array.isArray(type) ? z.enum(type).optional() : fieldTypes[type],
  ])
  return z.looseObject(Object.fromEntries(fields))
}

const answerSchema = z.looseObject({
  continue: flag,
  stopReason: text,
  suppressOutput: flag,
  systemMessage: text,
  terminalSequence: text,
  decision: z.enum(['approve', 'block']).optional(),
  reason: text,
  async: flag,
  asyncTimeout: z.number().optional(),
  hookSpecificOutput: z.looseObject({ hookEventName: z.string() }).optional(),
})

export type JsonAnswer = z.output<typeof answerSchema>

type CheckedAnswer =
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  | { readonly kind: 'invalid'; readonly message: string }
  /** It names an event other than the one that happened. */
  | { readonly kind: 'other event'; readonly named: string }

/** Whether Claude Code would accept this JSON as an answer to the event. */
function checkAnswer(event: string, value: unknown): CheckedAnswer {
  const whole = answerSchema.safeParse(value)
  if (!whole.success) return { kind: 'invalid', message: issueLine(whole.error) }
  const { hookSpecificOutput: own } = whole.data
  if (own === undefined) return { kind: 'valid', answer: whole.data }
  if (own.hookEventName !== event) return { kind: 'other event', named: own.hookEventName }
  const checked = outputSchema(event).safeParse(own)
  return checked.success === false
    ? { kind: 'invalid', message: `hookSpecificOutput.${issueLine(checked.error)}` }
    : { kind: 'valid', answer: whole.data }
}

function issueLine(error: z.ZodError): string {
  const [issue] = error.issues
  return issue === undefined ? 'it does not fit' : `${issue.path.join('.')}: ${issue.message}`
}
