import { join } from 'node:path'
import { type Label, labelsFile, readLabels } from '../../judge/labels.ts'
import { trustSentence } from '../../report/run-sentence.ts'
import { calibrateJudges, storeLabels } from '../../scenario/label-trials.ts'
import { openRun } from '../../store/open-run.ts'
import { ok, problem } from '../answer.ts'
import type { RunHandlerOptions, RunHandlers } from './contract.ts'

/** Labels are a file of the project, as `gantry label` writes it. */
export function labelHandlers({
  store,
  project,
}: RunHandlerOptions): Pick<RunHandlers, 'listLabels' | 'calibration' | 'labelTrial'> {
  const file = project === null ? null : join(project, labelsFile)
  const labels = (): ReadonlyMap<string, Label> => (file === null ? new Map() : readLabels(file))
  return {
    listLabels: () => ok({ file, labels: [...labels().values()].reverse() }),
    calibration: async () => {
      const given = labels()
      const judges = given.size === 0 ? [] : await calibrateJudges(store, given, [], 1)
      const trust = judges.map((judge) => trustSentence({ ...judge, kappa: judge.kappa?.value ?? null }))
      return ok({ judges, trust })
    },
    labelTrial: async ({ run, trial, body: { label, note } }) => {
      if (project === null)
        return problem(409, 'no_project', 'labels belong to a project', 'Start gantry view in its directory.')
      openRun(store, run)
      const given = { run, trial, label, ...(note !== undefined && { note }) }
      return ok((await storeLabels(store, [given], project)).labels[0])
    },
  }
}
