import { loadProject, type Project } from '../../config/load.ts'
import { openProjectStore } from '../../config/open-project-store.ts'
import type { PluginStep } from '../../plugin/contract.ts'
import type { EvaluationPowers } from '../../plugin/pipeline/evaluation-work.ts'
import type { CliContext } from '../context.ts'

/** What the command line lends an evaluation. */
export function openPowers(
  context: CliContext,
  onStep: (step: PluginStep) => void,
  project: Project = loadProject(context.cwd),
): EvaluationPowers {
  return {
    store: openProjectStore(context),
    project,
    cwd: context.cwd,
    env: context.env,
    signal: context.signal,
    argv: ['gantry', ...process.argv.slice(2)],
    onStep,
  }
}
