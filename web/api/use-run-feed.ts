import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { addressOf, exported } from './client.ts'

/** Asking again at most so often keeps a fast run from asking for every trial. */
const refreshMs = 1_000

/** Follows a live run: what the page shows of it is asked for again when a trial has ended. Returns the trials seen. */
export function useRunFeed(run: string, from: number | null, isPaused: boolean): number {
  const queries = useQueryClient()
  const [seen, setSeen] = useState(0)
  useEffect(() => {
    if (from === null || isPaused || exported !== null) return
    const source = new EventSource(addressOf('runEvents', { path: { run }, query: { after: from } }))
    let timer: number | null = null
    const refresh = (): void => {
      timer ??= window.setTimeout(() => {
        timer = null
        for (const name of ['getRun', 'listTrials', 'listRuns'])
          void queries.invalidateQueries({ queryKey: [name] })
      }, refreshMs)
    }
    const onTrial = (): void => {
      setSeen((count) => count + 1)
      refresh()
    }
    source.addEventListener('trial', onTrial)
    source.addEventListener('changed', refresh)
    source.addEventListener('run', () => {
      source.close()
      refresh()
    })
    return () => {
      source.close()
      if (timer !== null) window.clearTimeout(timer)
    }
    // The position only says where to begin: later answers must not begin again.
  }, [run, from === null, isPaused, queries])
  return seen
}
