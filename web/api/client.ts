import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { addresses, type Error as ErrorReply, type Operations } from './operations.ts'

export type Name = keyof Operations

/** What an operation needs: the parameters of its path, its query and its body. */
export type Given<N extends Name> = {
  readonly path?: Operations[N]['path']
  readonly query?: Operations[N]['query']
  readonly body?: Operations[N]['body']
}

/** An answer of the server that is an error, or no answer. */
export class Failure extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | null
  constructor(status: number, code: string, message: string, hint: string | null) {
    super(message)
    this.status = status
    this.code = code
    this.hint = hint
  }
}

export function noAnswer(): Failure {
  const hint = 'Is gantry still running? This page tries again by itself.'
  return new Failure(0, 'no_answer', 'The server does not answer.', hint)
}

/** Directory of the exported files; null when a server answers. */
export const exported = document.querySelector<HTMLMetaElement>('meta[name="gantry-data"]')?.content ?? null

export async function call<N extends Name>(
  name: N,
  given: Given<N> = {},
  signal?: AbortSignal,
): Promise<Operations[N]['reply']> {
  if (exported !== null) {
    const { readExported } = await import('./exported.ts')
    return (await readExported(name, given, signal)) as Operations[N]['reply']
  }
  const [method] = addresses[name]
  const isChange = method !== 'GET'
  const response = await answered(addressOf(name, given), {
    method,
    ...(signal !== undefined && { signal }),
    ...(isChange && { headers: { 'x-gantry-page': '1', 'content-type': 'application/json' } }),
    ...(isChange && { body: JSON.stringify(given.body ?? {}) }),
  })
  return (await contentOf(response)) as Operations[N]['reply']
}

export function addressOf<N extends Name>(name: N, { path = {}, query = {} }: Given<N>): string {
  const words = path as Record<string, string>
  const filled = addresses[name][1].replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(words[key] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(key, String(value))
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

export async function answered(address: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address, { ...init, credentials: 'same-origin' })
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw noAnswer()
  }
  if (response.ok) return response
  const reply = (await response.json().catch(() => null)) as ErrorReply | null
  const { code = 'unknown', message = response.statusText, hint = null } = reply?.error ?? {}
  throw new Failure(response.status, code, message, hint)
}

async function contentOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 204) return undefined
  return type.includes('json') ? await response.json() : await response.text()
}

/** An operation as a query. Asks again while the server does not answer. */
export function useApi<N extends Name>(
  name: N,
  given: Given<N> = {},
  options: Partial<UseQueryOptions<Operations[N]['reply'], Failure>> = {},
) {
  return useQuery<Operations[N]['reply'], Failure>({
    queryKey: [name, given],
    queryFn: ({ signal }) => call(name, given, signal),
    ...options,
  })
}
