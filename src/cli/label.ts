import { relative, resolve } from 'node:path'
import { Command } from 'commander'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import type { GivenLabel } from '../scenario/label-trials.ts'
import type { CliContext } from './context.ts'

interface LabelFlags {
  readonly note?: string
  readonly import?: string
  readonly json?: boolean
}

export function labelCommand(context: CliContext): Command {
  return new Command('label')
    .argument('[run]', "a run id, the beginning of one, or 'latest'")
    .argument('[trial]', 'the id of a trial, or the beginning of it')
    .argument('[label]', 'pass or fail')
    .option('--note <text>', 'why')
    .option('--import <file>', 'labels from a .csv or .jsonl with the columns run, trial, label, note')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(
      async (
        run: string | undefined,
        trial: string | undefined,
        label: string | undefined,
        flags: LabelFlags,
      ) => {
        const { openProjectStore } = await import('../config/open-project-store.ts')
        const { storeLabels } = await import('../scenario/label-trials.ts')
        const store = openProjectStore(context)
        const given =
          flags.import === undefined
            ? [oneLabel(run, trial, label, flags)]
            : await imported(run, flags.import, context)
        const { labels, path } = await storeLabels(store, given, context.cwd)
        const results = new Set(labels.map(({ content }) => content)).size
        const about = results < labels.length ? ` for ${counted(results, 'different result')}` : ''
        context.stdout.write(
          flags.json === true
            ? `${JSON.stringify(labels)}\n`
            : `${counted(labels.length, 'label')}${about} added to ${relative(context.cwd, path)}. "gantry judge calibrate" uses them.\n`,
        )
      },
    )
}

function oneLabel(
  run: string | undefined,
  trial: string | undefined,
  label: string | undefined,
  { note }: LabelFlags,
): GivenLabel {
  if (run !== undefined && trial !== undefined && (label === 'pass' || label === 'fail'))
    return { run, trial, label, ...(note !== undefined && { note }) }
  throw new GantryError('USAGE', 'a label needs a run, a trial, and pass or fail', {
    hint: 'gantry label latest 0001 pass --note "all of it is there", or gantry label --import labels.csv.',
  })
}

async function imported(run: string | undefined, file: string, { cwd }: CliContext) {
  const { readTextIfExists } = await import('../io/directory.ts')
  const { parseLabels } = await import('../scenario/label-trials.ts')
  if (run !== undefined)
    throw new GantryError('USAGE', '--import names runs and trials already', { hint: 'Remove one of them.' })
  const text = readTextIfExists(resolve(cwd, file))
  if (text === null) throw new GantryError('NOT_FOUND', `${file} does not exist`)
  return parseLabels(text, file)
}
