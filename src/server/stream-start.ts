import type { TaskQueue } from '../store/queue/contract.ts'
import { type Problem, problem } from './answer.ts'

export interface NamedPlace {
  readonly after: number | undefined
  /** What a client that comes back says; it is newer than what stands in its URL. */
  readonly lastEventId: string | undefined
}

export interface StreamStart {
  readonly kind: 'start'
  /** null when the client names none. */
  readonly afterId: number | null
}

/** The id after which a stream begins, as the client names it. */
export function streamStart(
  queue: Pick<TaskQueue, 'lastEventId'>,
  { after, lastEventId }: NamedPlace,
): StreamStart | Problem {
  if (lastEventId !== undefined && !/^\d{1,15}$/.test(lastEventId))
    return problem(
      400,
      'bad_event_id',
      'Last-Event-ID is no id of an event',
      'Send a number, or no such header.',
    )
  const id = lastEventId === undefined ? after : Number(lastEventId)
  if (id === undefined) return { kind: 'start', afterId: null }
  if (id <= queue.lastEventId()) return { kind: 'start', afterId: id }
  return problem(
    400,
    'future_event_id',
    `event ${id} has not happened yet`,
    'The store may have been replaced: begin anew without an id.',
  )
}
