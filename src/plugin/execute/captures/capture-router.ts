import type { SeenHook } from '../../../agents/contract.ts'
import type { AgentEvent, SpawnEvent, Untimed } from '../../../core/event.ts'
import { systemClock } from '../../../io/clock.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { HookResponse } from '../contract.ts'
import {
  type CaptureSheet,
  type Captures,
  captureEvent,
  hookHandlers,
  newSheet,
  readSheet,
  responseOf,
} from './capture-sheet.ts'

export type CaptureRouter = ReturnType<typeof createCaptureRouter>

/** The owner of a report: every scenario of the process, the last one, the next one, or none. */
export type CaptureOwner = 'process' | 'asked' | 'next' | 'none'

type Phase = 'opening' | 'turning' | 'waiting' | 'asked'

/**
 * Puts everything a live agent reports on the sheet of the scenario it belongs to. One router per process. Late reports of a
 * finished conversation are dropped.
 */
export function createCaptureRouter(startedAt: number) {
  const startup: HookResponse[] = []
  const past = { sessions: new Set<string>(), agents: new Set<string>() }
  let phase: Phase = 'opening'
  /** The conversation of the last scenario has not been cleared yet. */
  let isOpen = false
  let asked: CaptureSheet | null = null
  let next = newSheet()

  const ownerOf = (hookEvent: string | null): CaptureOwner => {
    if (phase === 'asked' || phase === 'waiting') return phase === 'asked' ? 'asked' : 'none'
    if (phase === 'opening') return hookEvent === 'SessionStart' ? 'process' : 'none'
    if (hookEvent === 'SessionEnd') return isOpen ? 'asked' : 'none'
    return hookEvent === 'SessionStart' || hookEvent === null ? 'next' : 'none'
  }
  const sheetOf = (owner: CaptureOwner): CaptureSheet | null =>
    owner === 'asked' ? asked : owner === 'next' ? next : null
  const leave = (sheet: CaptureSheet | null): void => {
    for (const id of sheet?.sessions ?? []) past.sessions.add(id)
    for (const id of sheet?.subagents.keys() ?? []) past.agents.add(id)
  }
  const isLate = ({ session_id, agent_id }: { session_id?: unknown; agent_id?: unknown }): boolean =>
    (typeof session_id === 'string' && past.sessions.has(session_id)) ||
    (typeof agent_id === 'string' && past.agents.has(agent_id))

  return {
    hook({ event, input, timestamp }: SeenHook): void {
      const sheet = sheetOf(ownerOf(event))
      if (sheet === null || isLate(input)) return
      if (typeof input.session_id === 'string') sheet.sessions.add(input.session_id)
      hookHandlers[event]?.(sheet, input, timestamp)
    },
    event(event: Untimed<AgentEvent>, timestamp: number): CaptureOwner {
      if (event.event === 'hook' && isLate(event)) return 'none'
      const owner = ownerOf(event.event === 'hook' ? event.hook : null)
      const sheet = sheetOf(owner)
      if (sheet !== null) captureEvent(sheet, event, timestamp)
      if (owner !== 'process' || event.event !== 'hook') return owner
      // Before its first prompt the agent may clear an empty conversation. That does not start a scenario.
      const response = event.name === 'SessionStart:clear' ? null : responseOf(event, timestamp)
      if (response !== null) startup.push(response)
      return response === null ? 'none' : 'process'
    },
    /**
     * The conversation is about to be cleared. Until `turned`, session ends belong to the last scenario and session starts to the next.
     */
    turn(): void {
      next = newSheet()
      phase = 'turning'
    },
    turned(): void {
      phase = 'waiting'
      isOpen = false
    },
    /** From now on everything belongs to this scenario, including captures since the last `turn`. */
    ask(): void {
      leave(asked)
      asked = next
      next = newSheet()
      phase = 'asked'
      isOpen = true
    },
    /** The prompt is answered: later reports were not caused by it. */
    answered(): void {
      phase = 'waiting'
    },
    /** Captures of the last scenario. The start of the process is part of every scenario in it. */
    captures(): Captures {
      const { hookResponses, timing, ...rest } = readSheet(asked ?? newSheet())
      return {
        ...rest,
        hookResponses: [...startup, ...hookResponses],
        timing: { ...timing, starts: [{ source: 'startup', timestamp: startedAt }, ...timing.starts] },
      }
    },
  }
}

type TimedEvent = readonly [event: Untimed<AgentEvent>, timestamp: number]

/** Routes events of the process to the capture router, and those of a scenario to its log. */
export function createEventRouter(captureRouter: CaptureRouter) {
  const startup: TimedEvent[] = []
  let beginning: TimedEvent[] = []
  let spawned: Untimed<SpawnEvent> | null = null
  let log: AttemptLog | null = null
  return {
    spawned: (): Untimed<SpawnEvent> | null => spawned,
    forgetBeginning: (): void => {
      beginning = []
    },
    /** The log that gets events from now on; null for none. Events of the scenario's beginning come first. */
    listen(next: AttemptLog | null): void {
      log = next
      for (const [event, timestamp] of next === null ? [] : [...startup, ...beginning])
        next?.take(event, timestamp)
    },
    raw: (chunk: Uint8Array) => log?.raw(chunk),
    event(event: Untimed<AgentEvent>): void {
      const timestamp = systemClock.now().getTime()
      if (event.event === 'spawn') spawned = event
      // Each scenario reports its own completion.
      if (event.event === 'spawn' || event.event === 'complete') return
      const owner = captureRouter.event(event, timestamp)
      if (owner === 'asked') log?.take(event, timestamp)
      if (owner === 'process') startup.push([event, timestamp])
      if (owner === 'next' && (event.event === 'session' || event.event === 'hook'))
        beginning.push([event, timestamp])
    },
  }
}
