import { type GroupProcess, openGroupProcess } from './group-process.ts'
import type { GroupWork } from './group-work.ts'
import { makeTrial } from './make-trial.ts'
import type { TrialGroup } from './trial-groups.ts'

/**
 * The trials of a group, one after the other, in one process as long as it lives. A trial that fails does not stop the others;
 * after a process that died the next one goes on.
 */
export async function runGroup(group: TrialGroup, work: GroupWork): Promise<void> {
  const { request, tally } = work
  const process: GroupProcess = openGroupProcess(group.settings, work)
  try {
    for (const grouped of group.trials) {
      if (request.signal.aborted || tally.isOutOfBudget()) tally.notRun(grouped.trial.id)
      else await makeTrial(grouped, process, work)
    }
  } finally {
    await process.close()
  }
}
