import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { call } from '../api/client.ts'
import type { RunSearch } from '../api/operations.ts'
import { count } from './format.ts'
import { useKeys } from './keys.tsx'
import { marked } from './marked.tsx'
import { Empty, Problem } from './states.tsx'

type Hit = RunSearch['hits'][number]

/** The search stops there until the person wants more. */
const pause = 200

interface Found {
  readonly hits: readonly Hit[]
  readonly searched: number
  readonly trials: number
  /** Where it goes on; null at the end. */
  readonly next: string | null
  readonly error: unknown
}

const nothing: Found = { hits: [], searched: 0, trials: 0, next: '', error: null }

/** A text in the transcripts of all trials. Hits appear while the search goes on. */
export function SearchRun({
  run,
  text,
  onChange,
}: {
  readonly run: string
  readonly text: string | undefined
  readonly onChange: (text: string | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const [found, setFound] = useState(nothing)
  const [limit, setLimit] = useState(pause)
  useKeys([{ key: 's', label: 'search in all transcripts', run: () => field.current?.focus() }])
  useEffect(() => {
    setFound(nothing)
    setLimit(pause)
  }, [run, text])
  const { hits, next, error } = found
  const isOver = text === undefined || next === null || error !== null || hits.length >= limit
  useEffect(() => {
    if (isOver || text === undefined || next === null) return
    const stop = new AbortController()
    call('searchRun', { path: { run }, query: { text, after: next || undefined } }, stop.signal).then(
      (part) => setFound((before) => ({ ...part, hits: [...before.hits, ...part.hits], error: null })),
      (problem: unknown) => {
        if (!stop.signal.aborted) setFound((before) => ({ ...before, error: problem }))
      },
    )
    return () => stop.abort()
  }, [run, text, next, isOver])
  return (
    <section aria-label="Search in all transcripts">
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          onChange(field.current?.value.trim() || undefined)
        }}
      >
        <label className="field grow">
          <span>Search in all transcripts</span>
          <input
            ref={field}
            type="search"
            key={text ?? ''}
            defaultValue={text ?? ''}
            placeholder="a text, then Enter"
            maxLength={500}
          />
        </label>
        <button type="submit">Search</button>
      </form>
      {text !== undefined && (
        <>
          <p className="note" role="status">
            {!isOver && <span className="spinner" aria-hidden="true" />} {count(hits.length, 'hit')} in{' '}
            {found.searched.toLocaleString('en-US')} of {count(found.trials, 'trial')}{' '}
            {!isOver && (
              <button type="button" onClick={() => setLimit(hits.length)}>
                Stop
              </button>
            )}
            {isOver && next !== null && error === null && (
              <button type="button" onClick={() => setLimit(hits.length + pause)}>
                Search on
              </button>
            )}
          </p>
          {error !== null && <Problem error={error} />}
          {next === null && hits.length === 0 && <Empty title="No transcript has this text." />}
          <ul className="hits" aria-label="Hits">
            {hits.map(({ trial, at, excerpt, more }) => (
              <li key={`${trial} ${at}`}>
                <Link to="/runs/$run/$trial" params={{ run, trial }} search={{ at: String(at) } as never}>
                  {trial}
                </Link>{' '}
                {marked(excerpt, text)}
                {more && <small> and more in this trial</small>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
