import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { TaskEvent } from '../../src/task/contract.ts'
import { addressOf } from './client.ts'

/** An event of a task with its position. */
export type Placed = TaskEvent & { readonly id: number }

/** The stream names its events by kind. */
const kinds: Readonly<Record<TaskEvent['kind'], true>> = {
  milestone: true,
  task_started: true,
  baseline: true,
  state_transition: true,
  scout_query: true,
  scout_correction: true,
  conflict: true,
  edit: true,
  agent: true,
  verifier_trigger: true,
  verifier_output: true,
  verifier_result: true,
  diagnosis: true,
  replan: true,
  snapshot: true,
  diff: true,
  note: true,
  task_ended: true,
  accepted: true,
  told: true,
  question: true,
  change: true,
}
const firstMs = 50
const refreshMs = 500
const retryMs = 3_000
const maxKept = 20_000

/** The events of a task from its beginning, as they happen. A lost connection goes on after the last one; another `round` reads all again. */
export function useTaskFeed(task: string, round: number): readonly Placed[] {
  const queries = useQueryClient()
  const [events, setEvents] = useState<readonly Placed[]>([])
  useEffect(() => {
    let last = 0
    let all: Placed[] = []
    let waiting: Placed[] = []
    let isEnded = false
    let timer: number | null = null
    let again: number | null = null
    let source: EventSource
    const show = (): void => {
      timer = null
      const added = waiting
      waiting = []
      all = [...all, ...added].slice(-maxKept)
      setEvents(all)
      for (const name of ['getTask', 'taskDiagnosis', 'taskDiff', 'taskReport'])
        void queries.invalidateQueries({ queryKey: [name] })
    }
    const onEvent = ({ lastEventId, data }: MessageEvent<string>): void => {
      const id = Number(lastEventId)
      if (id <= last) return
      last = id
      const event: Placed = { ...(JSON.parse(data) as TaskEvent), id }
      isEnded ||= event.kind === 'task_ended'
      waiting.push(event)
      timer ??= window.setTimeout(show, all.length === 0 ? firstMs : refreshMs)
    }
    const open = (): void => {
      source = new EventSource(
        addressOf('taskEvents', { path: { id: task }, query: { after: last, level: 'detail' } }),
      )
      for (const kind of Object.keys(kinds)) source.addEventListener(kind, onEvent as (event: Event) => void)
      // The browser itself comes back after a lost connection, but not after an answer that is an error.
      source.addEventListener('error', () => {
        if (source.readyState === EventSource.CLOSED && !isEnded) again = window.setTimeout(open, retryMs)
      })
    }
    open()
    return () => {
      source.close()
      if (timer !== null) window.clearTimeout(timer)
      if (again !== null) window.clearTimeout(again)
    }
  }, [task, round, queries])
  return events
}
