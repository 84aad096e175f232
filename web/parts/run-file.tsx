import { useApi } from '../api/client.ts'
import { Answer } from './states.tsx'

/** A log or report of a run, as text. */
export function RunFile({ run, path }: { readonly run: string; readonly path: string }) {
  const query = useApi('runFile', { path: { run }, query: { path } })
  return (
    <Answer query={query} what={path}>
      {(text) => <pre className="event-text">{text === '' ? '(empty)' : text}</pre>}
    </Answer>
  )
}
