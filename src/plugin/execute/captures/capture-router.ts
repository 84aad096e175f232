import type { SeenHook } from '../../../agents/contract.ts'
import type { AgentEvent, SpawnEvent, Untimed } from '../../../core/event.ts'
import { systemClock } from '../../../io/clock.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { HookResponse } from '../contract.ts'
import {
  type CaptureSheet,
  type Captures,
  captureEvent,
  newSheet,
  readSheet,
  responseOf,
} from './capture-sheet.ts'
import { hookHandlers } from './hook-handlers.ts'

/**
 * Where everything a live agent tells is put on the sheet of the scenario it belongs to. One captureRouter for one process. What comes
 * late, from a conversation that is over, is put on no sheet.
 */
export interface CaptureRouter {
  hook(seen: SeenHook): void
  event(event: Untimed<AgentEvent>, timestamp: number): CaptureOwner
  /**
   * The conversation is about to be forgotten. Until `turned`, ends of sessions belong to the scenario that was asked last and
   * starts to the one that comes next.
   */
  turn(): void
  turned(): void
  /** From here on everything belongs to the scenario. What was captured since the last `turn` is its beginning. */
  ask(): void
  /** The prompt is answered: what is still told now was not caused by it. */
  answered(): void
  /** Of the scenario that was asked last. The start of the process is part of every scenario in it. */
  captures(): Captures
}

/** To whom something belongs: to every scenario of the process, to the one asked last, to the one that comes next, or to nobody. */
export type CaptureOwner = 'process' | 'asked' | 'next' | 'nobody'

type Phase = 'opening' | 'turning' | 'waiting' | 'asked'

export function createCaptureRouter(startedAt: number): CaptureRouter {
  const startup: HookResponse[] = []
  const past = { sessions: new Set<string>(), agents: new Set<string>() }
  let phase: Phase = 'opening'
  /** The conversation of the scenario that was asked last has not been forgotten yet. */
  let isOpen = false
  let asked: CaptureSheet | null = null
  let next = newSheet()

  const ownerOf = (hookEvent: string | null): CaptureOwner => {
    switch (phase) {
      case 'asked':
        return 'asked'
      case 'turning':
        if (hookEvent === 'SessionEnd') return isOpen ? 'asked' : 'nobody'
        return hookEvent === 'SessionStart' || hookEvent === null ? 'next' : 'nobody'
      case 'opening':
        return hookEvent === 'SessionStart' ? 'process' : 'nobody'
      case 'waiting':
        return 'nobody'
    }
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
    hook({ event, input, timestamp }) {
      const sheet = sheetOf(ownerOf(event))
      if (sheet === null || isLate(input)) return
      if (typeof input.session_id === 'string') sheet.sessions.add(input.session_id)
      hookHandlers[event]?.(sheet, input, timestamp)
    },
    event(event, timestamp) {
      if (event.event === 'hook' && isLate(event)) return 'nobody'
      const owner = ownerOf(event.event === 'hook' ? event.hook : null)
      const sheet = sheetOf(owner)
      if (sheet !== null) captureEvent(sheet, event, timestamp)
      if (owner !== 'process' || event.event !== 'hook') return owner
      // Before its first prompt the agent may forget an empty conversation: no scenario began by that.
      const response = event.name === 'SessionStart:clear' ? null : responseOf(event, timestamp)
      if (response !== null) startup.push(response)
      return response === null ? 'nobody' : 'process'
    },
    turn() {
      next = newSheet()
      phase = 'turning'
    },
    turned() {
      phase = 'waiting'
      isOpen = false
    },
    ask() {
      leave(asked)
      asked = next
      next = newSheet()
      phase = 'asked'
      isOpen = true
    },
    answered() {
      phase = 'waiting'
    },
    captures() {
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

interface EventRouter {
  event(event: Untimed<AgentEvent>): void
  raw(chunk: Uint8Array): void
  /** Where events go from now on; null: nowhere. What belongs to the beginning of the scenario comes first. */
  listen(log: AttemptLog | null): void
  forgetBeginning(): void
  spawned(): Untimed<SpawnEvent> | null
}

/** Leads what the process tells to the captureRouter, and what belongs to a scenario to that scenario's log. */
export function createEventRouter(captureRouter: CaptureRouter): EventRouter {
  const startup: TimedEvent[] = []
  let beginning: TimedEvent[] = []
  let spawned: Untimed<SpawnEvent> | null = null
  let log: AttemptLog | null = null
  return {
    spawned: () => spawned,
    forgetBeginning: () => {
      beginning = []
    },
    listen(next: AttemptLog | null) {
      log = next
      for (const [event, timestamp] of next === null ? [] : [...startup, ...beginning])
        next?.take(event, timestamp)
    },
    raw: (chunk: Uint8Array) => log?.raw(chunk),
    event(event: Untimed<AgentEvent>) {
      const timestamp = systemClock.now().getTime()
      if (event.event === 'spawn') spawned = event
      // Each scenario is told as complete by itself.
      if (event.event === 'spawn' || event.event === 'complete') return
      switch (captureRouter.event(event, timestamp)) {
        case 'asked':
          log?.take(event, timestamp)
          return
        case 'next':
          if (event.event === 'session' || event.event === 'hook') beginning.push([event, timestamp])
          return
        case 'process':
          startup.push([event, timestamp])
          return
        case 'nobody':
          return
      }
    },
  }
}
