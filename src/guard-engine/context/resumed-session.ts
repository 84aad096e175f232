import type { TaskHistory } from '../contract.ts'
import { block } from './block.ts'
import { stateLines } from './state-lines.ts'

/** null when there is nothing to go on with. */
export function resumedSession(tasks: TaskHistory): string | null {
  if (tasks.phase === 'idle') return null
  const lines = [...stateLines(tasks), 'The session goes on from here; what is done stays done.']
  return block('Resumed Session', lines, 700)
}
