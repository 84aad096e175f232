import { z } from 'zod'
import { textBeside } from '../../io/text-beside.ts'
import { parseYaml } from '../../io/yaml.ts'
import type { EventIntent, SimulatedEvent } from './contract.ts'
import { inPlaces, type LabNames, type LabPlace, mapTexts, sessionId } from './lab-place.ts'

type Fields = Readonly<Record<string, unknown>>

interface Row {
  readonly label: string
  readonly fields: Fields
  readonly intent?: EventIntent
  /** The fields of a subagent. */
  readonly agent?: Fields
}

const fields = z.record(z.string(), z.unknown())
const call = z.object({
  tool: z.string(),
  label: z.string(),
  input: fields,
  response: z.unknown().optional(),
})
const { value: known } = parseYaml(
  textBeside(import.meta.url, './simulated-events.yaml'),
  'simulated-events.yaml',
  z.object({
    calls: z.array(call),
    attacks: z.array(call),
    events: z.record(
      z.string(),
      z.array(z.object({ label: z.string(), intent: z.literal('attack').exactOptional(), fields })),
    ),
  }),
)

type Call = z.output<typeof call>

/** All simulated events of one kind, the most common first; [] for an event Claude Code does not know. */
export function simulatedEvents(event: string, place: LabPlace, names: LabNames): readonly SimulatedEvent[] {
  const rows = mapTexts(rowsOf(event, place, names), inPlaces(place)) as readonly Row[]
  return rows.map(({ label, fields, intent = 'benign', agent }) => ({
    label,
    intent,
    event,
    payload: payloadOf(event, place, fields, agent),
  }))
}

function rowsOf(event: string, place: LabPlace, names: LabNames): readonly Row[] {
  const ofCall = ofCalls.get(event)
  if (ofCall !== undefined) return calls(names, ofCall)
  switch (event) {
    case 'UserPromptExpansion':
      return [...names.commands, `${names.plugin}:help`].slice(0, 5).map((command) => ({
        label: command,
        fields: {
          expansion_type: 'slash_command',
          command_name: command,
          command_args: 'one two',
          command_source: 'plugin',
          prompt: `/${command} one two`,
        },
      }))
    case 'SubagentStart':
      return agents(names, {})
    case 'SubagentStop':
      return agents(names, {
        stop_hook_active: false,
        agent_transcript_path: place.transcript.replace(
          /\.jsonl$/,
          '/subagents/agent-a0000000000000001.jsonl',
        ),
        last_assistant_message: 'sub finished',
        background_tasks: [],
        session_crons: [],
      })
    default:
      return Object.hasOwn(known.events, event) ? (known.events[event] ?? []) : []
  }
}

const id = { tool_use_id: 'toolu_000001fake' }

/** The fields of events about one call of a tool. */
const ofCalls: ReadonlyMap<string, (call: Call) => Fields> = new Map<string, (call: Call) => Fields>([
  ['PreToolUse', () => id],
  [
    'PermissionRequest',
    () => ({ permission_suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] }),
  ],
  ['PermissionDenied', () => ({ ...id, reason: 'Denied by the classifier' })],
  ['PostToolUse', ({ response }) => ({ tool_response: response, ...id, duration_ms: 12 })],
  [
    'PostToolUseFailure',
    ({ tool }) => ({
      ...id,
      error: tool === 'Bash' ? 'Exit code 3\nno such thing' : 'File does not exist.',
      is_interrupt: false,
      duration_ms: 12,
    }),
  ],
])

function calls({ toolPrefixes }: LabNames, more: (call: Call) => Fields): readonly Row[] {
  const row = (made: Call, label: string, intent: EventIntent): Row => ({
    label,
    intent,
    fields: { tool_name: made.tool, tool_input: made.input, ...more(made) },
  })
  const servers = [...toolPrefixes, 'mcp__memory__'].map((prefix) => ({
    tool: `${prefix}search`,
    label: '',
    input: { query: 'greeting' },
    response: [{ type: 'text', text: 'nothing found' }],
  }))
  const [shell] = known.calls
  return [
    ...known.calls.map((made) => row(made, `${made.tool} ${made.label}`, 'benign')),
    ...servers.map((made) => row(made, made.tool, 'benign')),
    ...known.attacks.map((made) => {
      const response = made.tool === 'Bash' ? { ...Object(shell?.response), stdout: '' } : {}
      return row({ ...made, response }, `${made.tool} ${made.label}`, 'attack')
    }),
  ]
}

function agents(names: LabNames, fields: Fields): readonly Row[] {
  return [...names.agents, 'general-purpose', 'Explore']
    .slice(0, 6)
    .map((type) => ({ label: type, fields, agent: { agent_id: 'a0000000000000001', agent_type: type } }))
}

/** The JSON that Claude Code writes to a hook's stdin: the fields of every event in order, then those of this one. */
function payloadOf(event: string, place: LabPlace, fields: Fields, agent: Fields = {}): Fields {
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

const ofTurn = [...ofCalls.keys(), 'PostToolBatch', 'SubagentStop', 'Stop']
const withMode: ReadonlySet<string> = new Set([...ofTurn, 'UserPromptSubmit', 'UserPromptExpansion'])
const withEffort: ReadonlySet<string> = new Set([...ofTurn, 'StopFailure'])
