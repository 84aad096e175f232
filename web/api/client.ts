import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { exportedName } from '../../src/core/exported-name.ts'
import { searchLine } from '../../src/core/search-line.ts'
import { selectTrials, type TrialSelection } from '../../src/core/select-trials.ts'
import {
  addresses,
  type Error as ErrorReply,
  type EventPage,
  type Operations,
  type RunList,
  type SearchResult,
  type TrialList,
} from './operations.ts'

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

/** Directory of the exported files; null when a server answers. */
export const exported = document.querySelector<HTMLMetaElement>('meta[name="gantry-data"]')?.content ?? null

export async function call<N extends Name>(
  name: N,
  given: Given<N> = {},
  signal?: AbortSignal,
): Promise<Operations[N]['reply']> {
  if (exported !== null) return (await readExported(name, given, signal)) as Operations[N]['reply']
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

async function answered(address: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address, { ...init, credentials: 'same-origin' })
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new Failure(
      0,
      'no_answer',
      'The server does not answer.',
      'Is gantry still running? This page tries again by itself.',
    )
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

/** The same answers from files. Rows are chosen here, because there is no server to do it. */
async function readExported<N extends Name>(
  name: N,
  given: Given<N>,
  signal?: AbortSignal,
): Promise<unknown> {
  if (addresses[name][0] !== 'GET')
    throw new Failure(405, 'exported', 'This is an exported copy: nothing can be changed here.', null)
  const query = (given.query ?? {}) as Record<string, unknown>
  if (name === 'searchTrial') return await searchExported(given as Given<'searchTrial'>, signal)
  const isChosenHere = name === 'listTrials' || name === 'listRuns' || name === 'trends'
  const content = await exportedFile(addressOf(name, isChosenHere ? { ...given, query: {} } : given), signal)
  const { offset = 0, limit = 100, descending, ...selection } = query
  const from = Number(offset)
  if (name === 'listTrials') {
    const { trials } = content as TrialList
    const found = selectTrials(trials, {
      ...(selection as TrialSelection),
      descending: descending === 'true',
    })
    return { trials: found.slice(from, from + Number(limit)), total: found.length }
  }
  if (name === 'listRuns') {
    const { runs, names } = content as RunList
    const { kind, status, text } = selection as Record<string, string | undefined>
    const found = runs.filter(
      (run) =>
        (kind === undefined || run.kind === kind) &&
        (status === undefined || run.status === status) &&
        (text === undefined || `${run.id} ${run.title}`.toLowerCase().includes(text.toLowerCase())),
    )
    return { runs: found.slice(from, from + Number(limit)), total: found.length, names }
  }
  return content
}

async function exportedFile(address: string, signal?: AbortSignal): Promise<unknown> {
  const file = `${exported}/${exportedName(address)}`
  const response = await answered(file, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (error instanceof Failure && error.status === 404)
      throw new Failure(404, 'not_exported', 'This is not part of the exported copy.', null)
    throw error
  })
  return file.endsWith('.json') ? await response.json() : await response.text()
}

async function searchExported(given: Given<'searchTrial'>, signal?: AbortSignal): Promise<SearchResult> {
  const wanted = given.query?.text ?? ''
  const hits: { at: number; excerpt: string }[] = []
  for (let from = 0; hits.length < 200; ) {
    const part = (await exportedFile(
      addressOf('trialEvents', { ...(given.path && { path: given.path }), query: { from } }),
      signal,
    )) as EventPage
    if (part.events.length === 0) break
    for (const { at, event, head } of part.events) {
      const line = event === null ? (head ?? '') : JSON.stringify(event)
      const excerpt = searchLine(line, wanted)
      if (excerpt !== null) hits.push({ at, excerpt })
    }
    from = part.next
  }
  return { hits, next: null }
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
