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
  // The parts of an address are not ids, and trying again does not change that.
  const isWrong = error instanceof Failure && error.code === 'bad_request' && retry !== undefined
  const hint = isWrong
    ? 'The address of this page is wrong. Choose what you look for from the menu above.'
    : error instanceof Failure
      ? error.hint
      : null
  return (
    <div className="state problem" role="alert">
      <p className="state-title">{message}</p>
      {hint !== null && <p>{hint}</p>}
      {retry !== undefined && !isWrong && (
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
    /** Why the last attempt failed, while it is tried again. */
    readonly failureReason?: unknown
    readonly refetch: () => unknown
  }
  readonly what: string
  readonly children: (data: T) => ReactNode
}) {
  const { data, error = null, failureReason = null } = query
  const isGone = failureReason instanceof Failure && failureReason.status === 0
  return (
    <>
      {(error ?? (isGone ? failureReason : null)) !== null && (
        <Problem error={error ?? failureReason} retry={() => void query.refetch()} />
      )}
      {data !== undefined && children(data)}
      {data === undefined && error === null && !isGone && <Loading what={what} />}
    </>
  )
}
