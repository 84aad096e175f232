import { printable } from '../../guard-engine/printable.ts'
import { commitAll } from '../../io/git-commit.ts'
import { requirePlanFile, writePlanFile } from './plan-file.ts'
import { planTasks } from './plan-tasks.ts'
import type { PlanWork } from './plan-work.ts'
import { setBoxes } from './set-boxes.ts'

const maxMessageLength = 200

/** Ticks the box of a verified task and, where it was asked for, commits. Whoever dies in between does the rest on resumption. */
export async function closeTask(work: PlanWork, id: string, key: string): Promise<string | null> {
  const { file, run, prepared, checkEnv, leaveOut } = work
  const text = requirePlanFile(file)
  const task = planTasks(text).find((one) => one.key === key)
  if (task !== undefined && !task.done) writePlanFile(file, setBoxes(text, new Map([[task.line, true]])))
  const { root, commit } = prepared.request
  const made = commit
    ? await commitAll({ root, leaveOut, env: checkEnv }, printable(task?.title ?? key, maxMessageLength))
    : null
  run.checkpoint(id, 'closed', { task: key, commit: made })
  return made
}
