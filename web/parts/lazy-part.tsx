import { useQuery } from '@tanstack/react-query'
import type { FunctionComponent } from 'react'
import { Failure, noAnswer } from '../api/client.ts'
import { Answer } from './states.tsx'

let parts = 0
const reloadMs = 10_000

/** A part of the page that is loaded when it is shown first. While the server does not answer it says so, and tries again. */
export function lazyPart<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  parts += 1
  const queryKey = ['part', parts]
  return function LazyPart(props: P) {
    const query = useQuery<FunctionComponent<P>, Failure>({
      queryKey,
      queryFn: () => load().catch(whyNot),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
    })
    return (
      <Answer query={query} what="the page">
        {(Part) => <Part {...props} />}
      </Answer>
    )
  }
}

/** A server that answers but does not have the file is of another version, whose page must be loaded. */
async function whyNot(): Promise<never> {
  const page = await fetch(location.pathname, { cache: 'no-store' }).catch(() => null)
  if (page?.ok !== true) throw noAnswer()
  const last = Number(sessionStorage.getItem('gantry-reloaded') ?? 0)
  if (Date.now() - last > reloadMs) {
    sessionStorage.setItem('gantry-reloaded', String(Date.now()))
    location.reload()
  }
  throw new Failure(500, 'no_part', 'This part of the page cannot be loaded.', 'Load the page again.')
}
