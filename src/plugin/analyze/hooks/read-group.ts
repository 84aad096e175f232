import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import type { HookHandler } from '../contract.ts'
import type { Notes } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { handlerAction, handlerProblems, isHandlerType } from './handler-fields.ts'
import type { HookFile } from './hook-files.ts'

/** A matcher group as it is written, with the handlers that Claude Code loads. */
export interface Group {
  readonly matcher: string | null
  readonly handlers: readonly HookHandler[]
  readonly line: number
}

type Steps = readonly [string, number]

export function readGroup(value: unknown, at: Steps, file: HookFile, notes: Notes): Group | null {
  const group = asObject(value)
  const line = file.lineOf(at)
  const listed: unknown = group?.hooks
  if (group === null || !Array.isArray(listed)) {
    const isHandler = typeof group?.type === 'string'
    noteInvalid(at, file, line, notes, {
      message: isHandler
        ? `group ${at[1] + 1} of ${at[0]} is a handler; handlers stand in a list under hooks`
        : `group ${at[1] + 1} of ${at[0]} has ${typeWord(listed)} instead of a list under hooks`,
      suggestion: 'Write { "matcher": "…", "hooks": [ { "type": "command", "command": "…" } ] }.',
    })
    return null
  }
  const { matcher } = group
  if (matcher !== undefined && typeof matcher !== 'string') {
    noteInvalid(at, file, line, notes, {
      message: `the matcher of group ${at[1] + 1} of ${at[0]} is ${typeWord(matcher)}`,
      suggestion: 'Write it as a text, or leave it out to match everything.',
    })
    return null
  }
  const handlers = listed.flatMap((raw, index) => readHandler(raw, [...at, 'hooks', index], at, file, notes))
  if (handlers.length === 0) {
    if (listed.length === 0)
      noteInvalid(at, file, line, notes, {
        message: `group ${at[1] + 1} of ${at[0]} has no handlers`,
        suggestion: 'Add a handler, or remove the group.',
        severity: 'warning',
      })
    return null
  }
  return { matcher: matcher ?? null, handlers, line }
}

function readHandler(
  value: unknown,
  steps: readonly (string | number)[],
  at: Steps,
  file: HookFile,
  notes: Notes,
): HookHandler[] {
  const raw = asObject(value)
  const line = file.lineOf(steps)
  if (raw === null || !isHandlerType(raw.type)) {
    noteInvalid(at, file, line, notes, {
      message: `a handler of ${at[0]} has ${raw === null ? typeWord(value) : `the type ${JSON.stringify(raw.type ?? null)}`}`,
      suggestion: 'The type is one of command, http, mcp_tool, prompt, agent.',
    })
    return []
  }
  const [problem] = handlerProblems(raw.type, raw)
  if (problem !== undefined) {
    noteInvalid(at, file, file.lineOf([...steps, problem.key]), notes, {
      message: `${problem.key} of a ${raw.type} handler of ${at[0]} ${problem.text}`,
      suggestion: 'Correct it: Claude Code leaves out what it cannot read.',
    })
    return []
  }
  return [handlerOf(raw.type, raw)]
}

function handlerOf(type: Parameters<typeof handlerAction>[0], raw: JsonObject): HookHandler {
  const { timeout } = raw
  return {
    type,
    action: handlerAction(type, raw),
    ...(typeof timeout === 'number' && { timeout_seconds: timeout }),
    raw,
  }
}

/** Claude Code leaves out what it cannot read; but where a hook guards a tool it then applies nothing of the whole file. */
export function noteInvalid(
  [event]: Steps,
  { path }: HookFile,
  line: number,
  notes: Notes,
  said: { readonly message: string; readonly suggestion: string; readonly severity?: 'warning' },
): void {
  const guards = said.severity === undefined && ['PreToolUse', 'PermissionRequest'].includes(event)
  const effect = guards ? 'Claude Code applies no hook of the file because of it' : 'it is left out'
  notes.add('HOOK_INVALID', { ...said, message: `${said.message}; ${effect}`, path, line })
}
