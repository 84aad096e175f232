import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { counted } from '../../core/counted.ts'
import type { GantryEvent } from '../../core/event.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { makeDirectories, readTextIfExists } from '../../io/directory.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import type { AtifTrajectory } from '../../report/atif/trajectory.ts'
import { findTrial } from '../../store/find-trial.ts'
import type { CliContext } from '../context.ts'

export function exportCommand(context: CliContext): Command {
  return new Command('export')
    .description('Write the trials of a run in a format for other tools, one trajectory per trial.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .argument('[trial]', 'only this trial: its id, or the beginning of it')
    .addOption(
      new Option(
        '--format <name>',
        'atif: the Agent Trajectory Interchange Format 1.7, with subagents, tool calls and cost',
      )
        .choices(['atif'])
        .makeOptionMandatory(),
    )
    .option(
      '--output <dir>',
      'directory for one file per trial (default: one JSON document per line on standard output)',
    )
    .action(async (wanted: string, trial: string | undefined, flags: ExportFlags) => {
      await exportRun(wanted, trial, flags, context)
    })
}

interface ExportFlags {
  readonly format: 'atif'
  readonly output?: string
}

async function exportRun(wanted: string, trial: string | undefined, flags: ExportFlags, context: CliContext) {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { projectRedaction } = await import('../../config/project-redaction.ts')
  const { findRun } = await import('../../store/find-run.ts')
  const { openRun } = await import('../../store/open-run.ts')
  const { readTrials, trialIds } = await import('../../store/read-trials.ts')
  const store = openProjectStore(context)
  const run = openRun(store, findRun(store, wanted))
  const only = trial === undefined ? null : findTrial(trialIds(run.dir), trial, run.id)
  const { forPeople } = projectRedaction(context.cwd, context.env)
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
  const { toAtif } = await import('../../report/atif/to-atif.ts')
  const { eventsForPeople } = await import('../../report/finished-run.ts')
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

/** `run.json` of the trial; empty when it no longer exists. */
function runFacts({ dir }: TrialRecord): Record<string, unknown> {
  const text = readTextIfExists(join(dir, 'run.json'))
  return text === null ? {} : (JSON.parse(text) as Record<string, unknown>)
}
