import { GantryError } from '../core/error.ts'
import { gitInfo } from '../io/git.ts'
import type { LiveRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { resumeRun } from '../store/resume-run.ts'
import type { TaskPowers, TaskRequest } from './task-request.ts'

/** The run directory of the task: that of the process that died on it, as far as it is there, else a new one. */
export async function openTaskRun(request: TaskRequest, powers: TaskPowers): Promise<LiveRun> {
  const { store, redaction, argv } = powers
  if (request.resumed && request.taskRunId !== null) {
    try {
      return resumeRun(store, request.taskRunId)
    } catch (error) {
      // It was cleaned away, or the process died before it was whole: nothing was done yet that could be lost.
      if (!(error instanceof GantryError) || error.code !== 'NOT_FOUND') throw error
    }
  }
  const git = await gitInfo(request.repository)
  const [title = ''] = request.description.trim().split('\n')
  const run = createRun(store, {
    kind: 'task',
    title: redaction.text(title.slice(0, 200)),
    argv: argv.map(redaction.text),
    cwd: request.repository,
    ...(git !== null && { dirty: git.dirty, ...(git.commit !== null && { commit_sha: git.commit }) }),
    details: {
      task_id: request.taskId,
      repository: request.repository,
      description: redaction.text(request.description),
    },
  })
  run.writePlan({ trials: [] })
  return run
}
