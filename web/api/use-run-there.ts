import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { exported, useApi } from './client.ts'

const pollMs = 2_000
/** Behind the end of any log: the stream of a run that has ended is then only its last event. */
const behind = 1e14

/** Notices that a run was deleted while its page is open, and asks for it again, so that the page says so. A live run is followed anyway. */
export function useRunThere(run: string, isLive: boolean): void {
  const queries = useQueryClient()
  const { error } = useApi(
    'runEvents',
    { path: { run }, query: { after: behind } },
    { enabled: exported === null && !isLive, refetchInterval: ({ state }) => !state.error && pollMs },
  )
  const isGone = error?.status === 404
  useEffect(() => {
    if (isGone)
      for (const name of ['getRun', 'getTrial', 'listRuns'])
        void queries.invalidateQueries({ queryKey: [name] })
  }, [isGone, queries])
}
