import type { ReactNode } from 'react'
import { Failure } from '../api/client.ts'

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="state" role="status">
      <span className="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  )
}

/** What is missing and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state empty">
      <p className="state-title">{title}</p>
      {children}
    </div>
  )
}

export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof Failure ? error.hint : null
  return (
    <div className="state problem" role="alert">
      <p className="state-title">{message}</p>
      {hint !== null && <p>{hint}</p>}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** The content of a query, or what there is instead. */
export function Answer<T>({
  query,
  what,
  children,
}: {
  readonly query: {
    readonly data: T | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly what: string
  readonly children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error != null) return <Problem error={query.error} retry={() => void query.refetch()} />
  return <Loading what={what} />
}
