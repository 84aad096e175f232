import type { AgentEvent, SpawnEvent, Untimed } from '../../core/event.ts'
import { systemClock } from '../../io/clock.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Desk } from './captures/desk.ts'

type Heard = readonly [event: Untimed<AgentEvent>, timestamp: number]

export interface Ears {
  event(event: Untimed<AgentEvent>): void
  raw(chunk: Uint8Array): void
  /** Where events go from now on; null: nowhere. What belongs to the beginning of the scenario comes first. */
  listen(log: AttemptLog | null): void
  forgetBeginning(): void
  spawned(): Untimed<SpawnEvent> | null
}

/** Leads what the process tells to the desk, and what belongs to a scenario to that scenario's log. */
export function createEars(desk: Desk): Ears {
  const startup: Heard[] = []
  let beginning: Heard[] = []
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
      switch (desk.event(event, timestamp)) {
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
