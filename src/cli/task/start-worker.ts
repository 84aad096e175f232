import { ownProgram } from '../../io/find-program.ts'
import { startDetached } from '../../io/start-detached.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'

/** Whether something waits that nobody works on. */
export function hasWork(queue: TaskQueue): boolean {
  const tasks = queue.list({ states: ['QUEUED', 'RUNNING'] })
  const busy = new Set(
    tasks
      .filter(({ state, abandoned }) => state === 'RUNNING' && !abandoned)
      .map(({ repository }) => repository),
  )
  return tasks.some(({ repository }) => !busy.has(repository))
}

/**
 * A worker of its own process that does what is queued and then goes. Several at once do no harm: a task is given to one.
 * false where Gantry is no program of its own that could be started.
 */
export function startWorker({ env, cwd }: CliContext): boolean {
  const program = ownProgram()
  if (program === null) return false
  const [node = process.execPath, ...words] = program
  startDetached(node, [...process.execArgv, ...words, 'task', 'work', '--from', cwd], env)
  return true
}
