import { type LabPlace, sessionId } from './lab-place.ts'

type Fields = Readonly<Record<string, unknown>>

/** What Claude Code writes to a hook's stdin: the fields of every event in its order, then those of this one. */
export function payloadOf(event: string, place: LabPlace, fields: Fields, agent: Fields = {}): Fields {
  return {
    session_id: sessionId,
    transcript_path: place.transcript,
    cwd: place.workspace,
    ...(!beforePrompt(event, fields) && { prompt_id: '00000000-0000-4000-8000-000000000005' }),
    ...(withMode.has(event) && { permission_mode: 'default' }),
    ...agent,
    ...(withEffort.has(event) && { effort: { level: 'medium' } }),
    hook_event_name: event,
    ...fields,
  }
}

/** Events before the first prompt. */
function beforePrompt(event: string, { source }: Fields): boolean {
  if (event === 'SessionStart') return source === 'startup' || source === 'resume'
  return event === 'Setup' || event === 'InstructionsLoaded'
}

const withMode: ReadonlySet<string> = new Set([
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStop',
  'Stop',
])

const withEffort: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStop',
  'Stop',
  'StopFailure',
])
