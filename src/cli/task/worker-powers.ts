import type { Store } from '../../store/contract.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import type { WorkerContext } from '../../task/worker/do-task.ts'
import type { CliContext } from '../context.ts'

/** What a worker of this process works with. */
export function workerPowers({ env }: CliContext, queue: TaskQueue, store: Store): WorkerContext {
  return { queue, store, env, argv: ['gantry', 'task'] }
}
