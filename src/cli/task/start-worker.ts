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

/** A worker of its own process that does what is queued and then goes. Several at once do no harm: a task is given to one. */
export function startWorker({ env, cwd }: CliContext): void {
  const [, program = ''] = process.argv
  startDetached(process.execPath, [...process.execArgv, program, 'task', 'work', '--from', cwd], env)
}
