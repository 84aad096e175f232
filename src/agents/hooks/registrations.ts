import type { HookKind } from '../../core/hook-event.ts'
import type { HookRegistration } from '../hook-codec.ts'

/** What an agent says of an event; all else follows from its kind. */
type Registered = Pick<HookRegistration, 'event' | 'kind'> & Partial<HookRegistration>

/** A hook blocks before tools, before settings change and at stops, where the gate may run the tests itself. */
export function registrations(events: readonly Registered[]): readonly HookRegistration[] {
  return events.map((event) => ({
    timeoutSeconds: timeouts[event.kind] ?? 10,
    mustBlock: blocking.has(event.kind),
    ...event,
  }))
}

/** Agents that spell the events as Claude Code does, with a small letter first, but for two. */
export function smallLetterRegistrations({
  prompt,
  stop,
}: {
  readonly prompt: string
  readonly stop: string
}): readonly HookRegistration[] {
  return registrations([
    { event: 'sessionStart', kind: 'session_start' },
    { event: prompt, kind: 'prompt' },
    { event: 'preToolUse', kind: 'tool_before' },
    { event: 'postToolUse', kind: 'tool_after' },
    { event: 'postToolUseFailure', kind: 'tool_after' },
    { event: stop, kind: 'stop' },
    { event: 'subagentStart', kind: 'subagent_start' },
    { event: 'subagentStop', kind: 'subagent_stop' },
    { event: 'preCompact', kind: 'compact_before' },
    { event: 'sessionEnd', kind: 'session_end' },
  ])
}

const timeouts: Partial<Record<HookKind, number>> = {
  stop: 600,
  subagent_stop: 600,
  session_end: 5,
  stop_failed: 5,
}

const blocking = new Set<HookKind>(['tool_before', 'config_change', 'stop', 'subagent_stop'])
