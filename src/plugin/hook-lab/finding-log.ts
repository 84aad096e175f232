import type { HookComponent, PluginFinding } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { canRefuse } from './event-effects.ts'

/** A finding of the lab. */
export interface LabFinding {
  readonly code: HookFindingCode
  /** What was observed; appended to the text of the finding. */
  readonly detail: string
}

/** Where a finding was made. */
export interface FindingPlace {
  readonly group: HookComponent
  /** Index of the handler; null for the whole group. */
  readonly handler: number | null
}

export type FindingLog = ReturnType<typeof createFindingLog>

interface Entry {
  readonly place: FindingPlace
  readonly code: HookFindingCode
  readonly labels: string[]
  readonly details: string[]
}

/** Collects findings: one per code and handler, with all events that showed it. */
export function createFindingLog() {
  const entries = new Map<HookComponent, Map<string, Entry>>()
  return {
    note(place: FindingPlace, { code, detail }: LabFinding, label?: string): void {
      const ofGroup = entries.get(place.group) ?? new Map<string, Entry>()
      entries.set(place.group, ofGroup)
      const key = `${place.handler ?? 'all'} ${code}`
      const entry = ofGroup.get(key) ?? { place, code, labels: [], details: [] }
      ofGroup.set(key, entry)
      entry.details.push(detail)
      if (label !== undefined) entry.labels.push(label)
    },
    findings: () =>
      [...entries.values()]
        .flatMap((ofGroup) => [...ofGroup.values()])
        .map(findingOf)
        .toSorted(byPlace),
  }
}

function findingOf({ place: { group, handler }, code, labels, details }: Entry): PluginFinding {
  const { message, suggestion } = findingTexts[code]
  // The first event depends on the machine; the alphabetically first text does not.
  const [detail = ''] = details.toSorted()
  const raw = handler === null ? {} : (group.handlers[handler]?.raw ?? {})
  return {
    code,
    severity:
      code === 'HOOK_PROGRAM_MISSING' && !details.some((each) => each.includes('<plugin>'))
        ? 'warning' // What is not installed here may be installed for the users of the plugin.
        : severityOf(code, group.event, raw.onFailure === 'block'),
    message: `${message}${detail === '' ? '' : `: ${detail}`}`,
    suggestion,
    components: [componentId('hook', group.name)],
    path: group.path,
    ...(group.line !== undefined && { line: group.line }),
    detail: {
      ...(handler !== null && { handler }),
      ...(labels.length > 0 && { events: [...new Set(labels)].toSorted() }),
    },
  }
}

const ranks = { error: 0, warning: 1, info: 2 } as const

function byPlace(a: PluginFinding, b: PluginFinding): number {
  const key = ({ components, code, detail }: PluginFinding): string =>
    `${components.join()} ${code} ${String(detail?.handler ?? '')}`
  return ranks[a.severity] - ranks[b.severity] || (key(a) < key(b) ? -1 : 1)
}

interface FindingText {
  readonly severity: PluginFinding['severity']
  /** The finding's text, completed by the observation. */
  readonly message: string
  readonly suggestion: string
}

/** Texts of all findings of the lab. */
export const findingTexts = {
  HOOK_FAILS_OPEN: error(
    'The hook fails, and the action it should check happens anyway',
    'If nothing may pass unchecked, catch the errors of the hook and exit with 2 only then, or set "onFailure": "block" (Claude Code 2.1.295 and later).',
  ),
  HOOK_CRASHES: warning('The hook fails', 'Catch errors, and exit with 0 when there is nothing to report.'),
  HOOK_HANGS: error(
    'The hook does not end',
    'Set a short "timeout", and exit when stdin ends; after the timeout the action continues as if there were no hook.',
  ),
  HOOK_TIMES_OUT: warning(
    'The hook reaches its own timeout, and Claude Code goes on without its answer',
    'Make it faster, or raise "timeout".',
  ),
  HOOK_PROGRAM_MISSING: error(
    'A program that the hook needs does not exist here, so the hook does nothing',
    `Ship it with the plugin and refer to it with \${CLAUDE_PLUGIN_ROOT}, or say in the readme what must be installed.`,
  ),
  HOOK_NOT_EXECUTABLE: error(
    'The file the hook starts is not executable',
    'Run chmod +x on it, or start it by its interpreter.',
  ),
  HOOK_UNREACHABLE: error(
    'No server answers at the address of the hook, so the hook does nothing',
    'Start the server first, or use a command.',
  ),
  HOOK_BROKEN_JSON: error(
    'The hook prints invalid JSON, which is treated as plain text',
    'Print one complete JSON object, created by a JSON library.',
  ),
  HOOK_TEXT_AROUND_JSON: error(
    'The hook prints text around its JSON, so all of it is treated as plain text and its decision is lost',
    'Print nothing but the JSON object on stdout; logs belong on stderr.',
  ),
  HOOK_OUTPUT_INVALID: error(
    'Claude Code rejects the answer of the hook',
    'Follow the fields of the event, and name it in hookEventName.',
  ),
  HOOK_OUTPUT_NOT_ALLOWED: error(
    'The event does not support hookSpecificOutput, so the whole answer is rejected',
    'Use "decision" and "reason", or an event that supports it.',
  ),
  HOOK_WRONG_EVENT_NAME: error(
    'The answer names another event than the one that happened',
    'Copy hook_event_name of the input into hookEventName.',
  ),
  HOOK_PRECOMPACT_CONTEXT: error(
    'Context cannot be given before a compaction: the answer is rejected and the context lost',
    'Save it in PreCompact, and print it in SessionStart with the matcher compact.',
  ),
  HOOK_PRECOMPACT_STDOUT: warning(
    'Output of PreCompact is added to the instructions for the summary',
    'Print nothing, unless that is what you want.',
  ),
  HOOK_STDOUT_UNUSED: info('The hook prints text that is not used on this event', 'Print JSON, or nothing.'),
  HOOK_OUTPUT_TOO_LONG: warning(
    'The hook returns a text of more than 10,000 characters; the model sees only the beginning',
    'Shorten it, or write it to a file and return the path.',
  ),
  HOOK_CONTINUE_IS_NO_DENY: error(
    '`continue: false` does not prevent the tool from running',
    'Use permissionDecision deny, or exit with 2.',
  ),
  HOOK_EXIT_IGNORED: warning(
    'The hook blocks by its exit code, which has no effect on this event',
    'Answer with JSON, or use an event that can be blocked.',
  ),
  HOOK_ASYNC_CANNOT_DECIDE: error(
    'The hook runs in the background, so its decision comes too late',
    'Remove "async" from a hook that decides.',
  ),
  HOOK_STOP_LOOPS: warning(
    'The hook prevents the agent from stopping again although stop_hook_active is true',
    'Let the agent stop when stop_hook_active is true, or limit the number of refusals.',
  ),
  HOOK_WRITES_PLUGIN_ROOT: error(
    'The hook writes into the directory of the plugin, which every update replaces',
    `Write to \${CLAUDE_PLUGIN_DATA}.`,
  ),
  HOOK_LEAVES_PROCESSES: info(
    'The hook leaves processes behind',
    'Unless that is its purpose, wait for its child processes or kill them.',
  ),
  HOOK_NEEDS_TTY: error(
    'The hook needs a terminal, which hooks do not have',
    'Read all input from stdin, and do not prompt.',
  ),
  HOOK_NEVER_DENIES: info(
    'Hooks of the plugin seem meant to refuse something, and refused none of the simulated events',
    'If what they refuse is not among them, add an example of it to evals/hooks.',
  ),
  HOOK_DENIES_BENIGN: warning('The hook refuses harmless everyday actions', 'Check its conditions.'),
  HOOK_MATCHER_UNTRIED: warning(
    'No simulated event makes the hook fire',
    'Check the matcher and the `if`, or add an example to evals/hooks.',
  ),
  HOOK_SESSION_END_SLOW: warning(
    'When a session ends, all hooks of a plugin share 1.5 seconds; this one takes longer',
    'Do less, or use Stop instead.',
  ),
  HOOK_EXAMPLE_FAILED: error(
    'An example in evals/hooks has another result than expected',
    'Fix the hook or the example.',
  ),
} as const satisfies Readonly<Record<string, FindingText>>

export type HookFindingCode = keyof typeof findingTexts

/** The severity depends on the event: a failing guard is worse than a failing logger. */
function severityOf(
  code: HookFindingCode,
  event: string,
  blocksOnFailure: boolean,
): PluginFinding['severity'] {
  const { severity } = findingTexts[code]
  if (severity !== 'error') return severity
  const isFailure = /^HOOK_(?:HANGS|TIMES_OUT|PROGRAM_MISSING|NOT_EXECUTABLE|FAILS_OPEN)$/.test(code)
  const isLostText = ['HOOK_BROKEN_JSON', 'HOOK_TEXT_AROUND_JSON'].includes(code)
  if (isFailure && blocksOnFailure && canRefuse(event)) return 'warning'
  return isLostText && !canRefuse(event) ? 'warning' : 'error'
}

function error(message: string, suggestion: string): FindingText {
  return { severity: 'error', message, suggestion }
}

function warning(message: string, suggestion: string): FindingText {
  return { severity: 'warning', message, suggestion }
}

function info(message: string, suggestion: string): FindingText {
  return { severity: 'info', message, suggestion }
}
