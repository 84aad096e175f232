import { expect } from 'vitest'
import type { AgentRun, GuardedProject } from '../../../src/guard/prove/contract.ts'
import { textOfCall } from '../../../src/guard/prove/observations.ts'
import type { ModelCall } from '../../../src/models/boundary/contract.ts'

/** Requests of the agent's own work, in order. */
export function turnsOf({ calls }: AgentRun): readonly ModelCall[] {
  return calls.filter(({ kind }) => kind === 'turn')
}

/** Everything the model got in its nth turn, from 0. */
export function textSent(performance: AgentRun, turn: number): string {
  const call = turnsOf(performance)[turn]
  if (call === undefined) throw new Error(`there is no turn ${turn}`)
  return textOfCall(call)
}

/** What was new in the nth turn: all behind the last answer of the model. */
export function news(performance: AgentRun, turn: number): string {
  const call = turnsOf(performance)[turn]
  if (call === undefined) throw new Error(`there is no turn ${turn}`)
  const { messages } = call
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return textOfCall({ ...call, system: '', messages: messages.slice(last + 1) })
}

/** The hooks ran, none but denials and refusals ended with another code than 0, and each of these is in the ledger. */
export function hooksAreSound(project: GuardedProject, performances: readonly AgentRun[]): void {
  const events = performances.flatMap((performance) => performance.events)
  const ended = events
    .filter((event) => event.event === 'hook')
    .filter(({ outcome }) => outcome !== 'started')
  expect(ended.length).toBeGreaterThan(0)
  const [fine, other] = [ended.filter(isFine), ended.filter((hook) => !isFine(hook))]
  expect(fine.length).toBeGreaterThan(0)
  expect(other.filter(({ exit_code }) => exit_code !== 2)).toEqual([])
  const blocked = project
    .ledger()
    .filter((entry) => entry.kind === 'decision' && entry.verdict !== 'pass').length
  expect(other.length).toBe(blocked)
  for (const { outcome, events: own } of performances) {
    expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, failure: null })
    expect(outcome.invalid).toBeUndefined()
    expect(own.find((event) => event.event === 'session')?.plugin_errors).toBeUndefined()
  }
}

function isFine({ outcome, exit_code }: { readonly outcome?: string; readonly exit_code?: number }): boolean {
  return outcome === 'success' && exit_code === 0
}
