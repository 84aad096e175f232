import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GantryEvent } from '../../../src/core/event.ts'
import type { TrialRecord } from '../../../src/core/trial.ts'

/** Text of a file in the trial's directory. */
export function trialText(trial: Pick<TrialRecord, 'dir'>, path: string): string {
  return readFileSync(join(trial.dir, path), 'utf8')
}

export function trialJson(trial: Pick<TrialRecord, 'dir'>, path: string): Record<string, unknown> {
  return JSON.parse(trialText(trial, path)) as Record<string, unknown>
}

/** The trial's events, all or those of one kind. */
export function trialEvents(trial: Pick<TrialRecord, 'dir'>): GantryEvent[]
export function trialEvents<K extends GantryEvent['event']>(
  trial: Pick<TrialRecord, 'dir'>,
  kind: K,
): Extract<GantryEvent, { event: K }>[]
export function trialEvents(trial: Pick<TrialRecord, 'dir'>, kind?: string): GantryEvent[] {
  const events = trialText(trial, 'events.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as GantryEvent)
  return kind === undefined ? events : events.filter(({ event }) => event === kind)
}
