import { dirname } from 'node:path'
import { watchTrees } from '../io/watch-trees.ts'
import type { PreparedRun } from '../scenario/prepare-run.ts'
import type { CliContext } from './context.ts'
import { printError } from './print-error.ts'

/** Runs, waits for a change of a scenario, template, rubric or configuration, and runs again until Ctrl-C. */
export async function watchRuns(context: CliContext, run: () => Promise<PreparedRun>): Promise<void> {
  let watched = [context.cwd]
  while (!context.signal.aborted) {
    try {
      watched = placesOf(await run())
    } catch (error) {
      // The next save may fix the file.
      context.setExitCode(printError(error, context))
    }
    if (context.signal.aborted) return
    context.stderr.write('\nWatching for changes. Press Ctrl-C to stop.\n')
    const changed = await watchTrees(watched, context.signal)
    if (changed !== null) context.stderr.write(`\n${changed} changed\n`)
  }
}

function placesOf({ cases, project }: PreparedRun): string[] {
  const places = [...cases.values()].flatMap((entry) => [
    dirname(entry.file),
    entry.templateDir,
    ...(entry.rubric === null ? [] : [dirname(entry.rubric.path)]),
  ])
  return [...new Set(project.source === null ? places : [...places, dirname(project.source.path)])]
}
