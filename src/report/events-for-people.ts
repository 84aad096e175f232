import { join } from 'node:path'
import type { GantryEvent } from '../core/event.ts'
import type { TrialRecord } from '../core/trial.ts'
import { readJsonl } from '../io/jsonl.ts'

/** A trial's events as they may be passed on: `forPeople` hides what points to a person. */
export async function* eventsForPeople(
  { dir }: TrialRecord,
  forPeople: (value: unknown) => unknown,
): AsyncGenerator<GantryEvent> {
  // Redaction changes texts and nothing of the shape.
  for await (const event of readJsonl<GantryEvent>(join(dir, 'events.jsonl')))
    yield forPeople(event) as GantryEvent
}
