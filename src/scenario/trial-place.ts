import { join } from 'node:path'

/** Where everything of one trial lies. The directory is complete by itself. */
export interface TrialPlace {
  readonly dir: string
  /** The agent's working directory, kept as the state after the run. */
  readonly fixture: string
  readonly home: string
  readonly tmp: string
  readonly transcript: string
  readonly events: string
  readonly metrics: string
  readonly evaluation: string
  readonly runFacts: string
}

export function trialPlace(dir: string): TrialPlace {
  return {
    dir,
    fixture: join(dir, 'fixture'),
    home: join(dir, 'home'),
    tmp: join(dir, 'tmp'),
    transcript: join(dir, 'transcript.raw.txt'),
    events: join(dir, 'events.jsonl'),
    metrics: join(dir, 'metrics.json'),
    evaluation: join(dir, 'evaluation.md'),
    runFacts: join(dir, 'run.json'),
  }
}
