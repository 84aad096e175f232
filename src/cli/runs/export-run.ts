import { join, resolve } from 'node:path'
import { openProjectStore } from '../../config/open-project-store.ts'
import { counted } from '../../core/counted.ts'
import type { GantryEvent } from '../../core/event.ts'
import { createRedaction } from '../../core/redaction.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { makeDirectories, readTextIfExists } from '../../io/directory.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import type { AtifTrajectory } from '../../report/atif/schema.ts'
import { toAtif } from '../../report/atif/to-atif.ts'
import { eventsForPeople } from '../../report/finished-run.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrials, trialIds } from '../../store/read-trials.ts'
import type { CliContext } from '../context.ts'
import { findTrial } from './find-trial.ts'

export interface ExportFlags {
  readonly format: 'atif'
  readonly output?: string
}

/** Every finished trial of a run, or one of them, as a trajectory. */
export async function exportRun(
  wanted: string,
  trial: string | undefined,
  flags: ExportFlags,
  context: CliContext,
): Promise<void> {
  const store = openProjectStore(context)
  const run = openRun(store, findRun(store, wanted))
  const only = trial === undefined ? null : findTrial(trialIds(run.dir), trial, run.id)
  // Secrets were hidden when the run was stored; what points to a person is hidden in what is passed on.
  const { forPeople } = createRedaction([], context.env)
  const directory =
    flags.output === undefined || flags.output === '-' ? null : resolve(context.cwd, flags.output)
  if (directory !== null) makeDirectories(directory)
  let written = 0
  for (const record of readTrials(run.dir)) {
    if (only !== null && record.id !== only) continue
    const trajectory = await trajectoryOf(record, run.id, forPeople)
    if (directory === null) context.stdout.write(`${JSON.stringify(trajectory)}\n`)
    else writeJsonAtomic(join(directory, `${record.id}.json`), trajectory)
    written += 1
  }
  if (directory !== null)
    context.stdout.write(`Wrote ${counted(written, 'trajectory', 'trajectories')} to ${directory}\n`)
}

async function trajectoryOf(
  trial: TrialRecord,
  runId: string,
  forPeople: (value: unknown) => unknown,
): Promise<AtifTrajectory> {
  const events: GantryEvent[] = []
  for await (const event of eventsForPeople(trial, forPeople)) events.push(event)
  const { prompt, tool_version: agentVersion } = runFacts(trial)
  return toAtif(
    {
      trial,
      runId,
      ...(typeof prompt === 'string' && { prompt }),
      ...(typeof agentVersion === 'string' && { agentVersion }),
    },
    events,
  )
}

/** `run.json` of the trial; empty when it is not there any more. */
function runFacts({ dir }: TrialRecord): Record<string, unknown> {
  const text = readTextIfExists(join(dir, 'run.json'))
  return text === null ? {} : (JSON.parse(text) as Record<string, unknown>)
}
