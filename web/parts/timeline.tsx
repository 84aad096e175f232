import { useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { call, type Failure } from '../api/client.ts'
import type { EventPage, GuardMoment, SearchResult } from '../api/operations.ts'
import { EventRow, GroupRow } from './event-row.tsx'
import { Search } from './fields.tsx'
import { bytes, count } from './format.ts'
import { useKeys } from './keys.tsx'
import { marked } from './marked.tsx'
import { Empty, Loading, Problem } from './states.tsx'
import { rowsOf, turnsBefore, waysTo } from './timeline-rows.ts'
import { toggled } from './toggled.ts'
import { type Item, type ItemKind, isBad, itemKinds, itemsOf } from './turns.ts'

type Part = { readonly from: number } | { readonly before: number }

interface TimelineProps {
  readonly run: string
  readonly trial: string
  /** Position of the event to show. */
  readonly at: number | null
  readonly isLive: boolean
  /** Called with the event that a person chose. */
  readonly onChoose: (at: number) => void
  /** Marks the row where two transcripts begin to differ. */
  readonly mark?: number | null
  /** Called with what is loaded from the beginning on, and whether it is all. */
  readonly onItems?: (items: readonly Item[], isAll: boolean) => void
  /** What the guard decided about calls, by the ids of the calls. */
  readonly guard?: ReadonlyMap<string, GuardMoment>
}

const pollMs = 1_000
/** Parts that are loaded before the person scrolls or asks for more. */
const maxOwnLoads = 12

/** What happened in a trial, turn by turn. Loads the log in parts, as far as a person scrolls. */
export function Timeline({ run, trial, at, isLive, onChoose, mark = null, onItems, guard }: TimelineProps) {
  const [hidden, setHidden] = useState<ReadonlySet<ItemKind>>(new Set(['usage', 'model', 'hook', 'raw']))
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [isAllOpen, setAllOpen] = useState(false)
  /** Branches of subagents and like calls that are not folded. */
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set())
  const [words, setWords] = useState<string | undefined>(undefined)
  // A place far into the log is loaded first; what comes before it when the person scrolls up.
  const [start, setStart] = useState(() => (at !== null && at > 1_000_000 ? at : 0))
  const query = useInfiniteQuery<EventPage, Failure, { pages: EventPage[] }, readonly unknown[], Part>({
    queryKey: ['trialEvents', run, trial, start],
    queryFn: ({ pageParam, signal }) =>
      call('trialEvents', { path: { run, trial }, query: pageParam }, signal),
    initialPageParam: { from: start },
    // A torn last line is never complete: a part without events is the end.
    getNextPageParam: ({ next, bytes: size, events: found }) =>
      next < size && found.length > 0 ? { from: next } : undefined,
    getPreviousPageParam: ({ events }) => {
      const first = events[0]?.at ?? start
      return first > 0 ? { before: first } : undefined
    },
    refetchInterval: isLive ? pollMs : false,
    staleTime: isLive ? 0 : Number.POSITIVE_INFINITY,
  })
  const events = useMemo(() => query.data?.pages.flatMap((page) => page.events) ?? [], [query.data])
  const isFromStart = query.data !== undefined && !query.hasPreviousPage
  const all = useMemo(() => itemsOf(events, isFromStart), [events, isFromStart])
  const turns = useMemo(() => [...new Set(all.flatMap(({ turn }) => turn ?? []))], [all])
  const items = useMemo(() => all.filter(({ kind }) => !hidden.has(kind)), [all, hidden])
  const rows = useMemo(
    () => rowsOf(items, (place) => isAllOpen !== unfolded.has(place)),
    [items, unfolded, isAllOpen],
  )
  const isLoaded = query.data !== undefined
  useEffect(() => {
    if (isFromStart) onItems?.(all, !query.hasNextPage)
  }, [all, onItems, isFromStart, query.hasNextPage])
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    getItemKey: (index) => rows[index]?.at ?? index,
    overscan: 8,
  })
  const toggle = (place: number): void => setOpened((before) => toggled(before, place))
  const toggleFold = (place: number): void => setUnfolded((before) => toggled(before, place))
  const isAt = (item: Item, place: number): boolean => item.at === place || item.result?.at === place
  const indexOf = (place: number): number => items.findIndex((item) => isAt(item, place))
  const rowOf = (place: number): number =>
    rows.findIndex((row) => row.kind === 'event' && isAt(row.item, place))
  /** Opens what an event is folded into, and shows its kind. */
  const reveal = (place: number): void => {
    const item = all.find((one) => isAt(one, place))
    if (item === undefined) return
    if (hidden.has(item.kind)) setHidden(toggled(hidden, item.kind))
    for (const way of waysTo(item, rows)) if (isAllOpen === unfolded.has(way)) toggleFold(way)
  }
  const [chosen, setChosen] = useState(at)
  const size = query.data?.pages[0]?.bytes ?? 0

  /** The event is opened when it is there. Its place may be that of its result. */
  const isToOpen = useRef(at !== null)
  const isInside = (place: number): boolean =>
    place >= (events[0]?.at ?? 0) && place < (query.data?.pages.at(-1)?.next ?? 0)
  /** Shows a place, loading it first when it is not there. */
  const show = (place: number): void => {
    setChosen(place)
    isToOpen.current = true
    if (place < size && !isInside(place)) setStart(place)
  }
  /** A place after which there is no event. */
  const absent = useRef<number | null>(null)
  useEffect(() => {
    if (at === null || !isLoaded || at === absent.current) return
    if (events.length === 0 && start > 0) {
      absent.current = at
      setStart(0)
    } else if (at !== chosen || !isInside(at)) show(at)
  }, [at, isLoaded])
  const shownFor = useRef('')
  useEffect(() => {
    if (chosen === null || shownFor.current === `${chosen} ${start}`) return
    const index = rowOf(chosen)
    const row = rows[index]
    if (row === undefined) return reveal(chosen)
    if (isToOpen.current && isAllOpen === opened.has(row.at)) toggle(row.at)
    isToOpen.current = false
    shownFor.current = `${chosen} ${start}`
    virtual.scrollToIndex(index, { align: 'center' })
  })
  const lastVisible = virtual.getVirtualItems().at(-1)?.index ?? 0
  const isNearEnd = lastVisible >= rows.length - 20 && query.hasNextPage && !query.isFetching
  /** What is loaded may be hidden or folded: without a bound the tab would then load the whole log. */
  const own = useRef({ loads: 0, lastVisible, rows: rows.length })
  useEffect(() => {
    const { current: before } = own
    const isScrolled = before.rows === rows.length && before.lastVisible !== lastVisible
    const loads = isScrolled ? 0 : before.loads
    const isToLoad = isNearEnd && loads < maxOwnLoads
    own.current = { loads: isToLoad ? loads + 1 : loads, lastVisible, rows: rows.length }
    if (isToLoad) void query.fetchNextPage()
  }, [lastVisible, rows.length, isNearEnd, query])

  /** The row that stays where it is when earlier ones come above it. */
  const kept = useRef<number | null>(null)
  useEffect(() => {
    const index = rows.findIndex(({ at: place }) => place === kept.current)
    if (index <= 0) return
    kept.current = null
    virtual.scrollToIndex(index, { align: 'start' })
  }, [rows])
  const loadBefore = (): void => {
    kept.current = rows[0]?.at ?? null
    void query.fetchPreviousPage()
  }

  const toggleAll = (): void => {
    setOpened(new Set())
    setUnfolded(new Set())
    setAllOpen(!isAllOpen)
  }
  const move = (by: number): void => {
    const now = chosen === null ? -1 : indexOf(chosen)
    const item = items[Math.max(0, Math.min(items.length - 1, now + by))]
    if (item === undefined) return
    setChosen(item.at)
    onChoose(item.at)
    const index = rowOf(item.at)
    if (index >= 0) {
      shownFor.current = `${item.at} ${start}`
      virtual.scrollToIndex(index, { align: 'auto' })
    }
  }
  const moveTo = (isWanted: (item: Item) => boolean, by: 1 | -1): void => {
    const now = chosen === null ? (by === 1 ? -1 : items.length) : indexOf(chosen)
    for (let index = now + by; index >= 0 && index < items.length; index += by) {
      const item = items[index]
      if (item === undefined || !isWanted(item)) continue
      move(index - now)
      return
    }
  }
  useKeys([
    { key: 'j', label: 'next event', run: () => move(1) },
    { key: 'k', label: 'previous event', run: () => move(-1) },
    {
      key: 'J',
      label: 'next turn',
      run: () => moveTo((item) => startsTurn(item, items), 1),
    },
    { key: 'K', label: 'previous turn', run: () => moveTo((item) => startsTurn(item, items), -1) },
    { key: 'f', label: 'next failure', run: () => moveTo(isBad, 1) },
    { key: 'Enter', label: 'open or fold the event', run: () => chosen !== null && toggle(chosen) },
    { key: 'e', label: 'open or fold all', run: toggleAll },
  ])

  if (query.error !== null && query.data === undefined) return <Problem error={query.error} />
  if (query.data === undefined) return <Loading what="events" />
  const counts = new Map<ItemKind, number>()
  for (const { kind } of all) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="filters">
        <fieldset className="chips">
          <legend className="hidden">Kinds of events</legend>
          {itemKinds
            .filter((kind) => counts.has(kind))
            .map((kind) => (
              <button
                key={kind}
                type="button"
                className="chip"
                aria-pressed={!hidden.has(kind)}
                onClick={() => setHidden(toggled(hidden, kind))}
              >
                {kind} {counts.get(kind)}
              </button>
            ))}
        </fieldset>
        <button type="button" className="quiet" onClick={toggleAll}>
          {isAllOpen ? 'fold all' : 'open all'}
        </button>
        <Search label="Search the whole log" value={words} onChange={setWords} />
      </div>
      {words !== undefined && (
        <Hits
          run={run}
          trial={trial}
          text={words}
          onShow={(place) => {
            onChoose(place)
            show(place)
          }}
        />
      )}
      {items.length === 0 ? (
        <Empty title={size === 0 ? 'There is no event log.' : 'No event is shown.'}>
          {size > 0 && <p>All kinds of events are hidden.</p>}
        </Empty>
      ) : (
        <div ref={box} className="events" role="feed" aria-busy={query.isFetching} tabIndex={-1}>
          {query.hasPreviousPage && (
            <p className="more">
              <button type="button" onClick={loadBefore}>
                Load what came before
              </button>
            </p>
          )}
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, start: top, key }) => {
              const row = rows[index]
              if (row === undefined) return null
              const begun = turnsBefore(row, rows[index - 1], turns)
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  style={{ position: 'absolute', top, width: '100%' }}
                >
                  {row.kind === 'group' ? (
                    <GroupRow
                      items={row.items}
                      turns={begun}
                      isOpen={row.isOpen}
                      onToggle={() => toggleFold(row.at + 0.5)}
                    />
                  ) : (
                    <EventRow
                      item={row.item}
                      run={run}
                      trial={trial}
                      turns={begun}
                      branch={row.branch}
                      guard={guardOf(row.item, guard)}
                      words={words}
                      isOpen={isAllOpen !== opened.has(row.at)}
                      isChosen={chosen !== null && isAt(row.item, chosen)}
                      isMarked={mark === row.at}
                      onFold={() => toggleFold(row.at)}
                      onToggle={() => {
                        toggle(row.at)
                        shownFor.current = `${row.at} ${start}`
                        setChosen(row.at)
                        onChoose(row.at)
                      }}
                    />
                  )}
                </div>
              )
            })}
          </div>
        </div>
      )}
      <p className="note">
        {count(all.length, 'event')} loaded
        {query.hasNextPage && ` of a log of ${bytes(size)}`}
        {isLive && ', following'}
        {isNearEnd && own.current.loads >= maxOwnLoads && (
          <>
            . The last of them are hidden or folded.{' '}
            <button
              type="button"
              onClick={() => {
                own.current.loads = 0
                void query.fetchNextPage()
              }}
            >
              Load more
            </button>
          </>
        )}
      </p>
    </section>
  )
}

function startsTurn(item: Item, items: readonly Item[]): boolean {
  return item.turn !== null && items[items.indexOf(item) - 1]?.turn !== item.turn
}

function guardOf({ event }: Item, guard: TimelineProps['guard']): GuardMoment | null {
  return event?.event === 'tool_call' && event.id !== undefined ? (guard?.get(event.id) ?? null) : null
}

function Hits({
  run,
  trial,
  text,
  onShow,
}: {
  readonly run: string
  readonly trial: string
  readonly text: string
  readonly onShow: (at: number) => void
}) {
  const query = useInfiniteQuery<
    SearchResult,
    Failure,
    { pages: SearchResult[] },
    readonly unknown[],
    number
  >({
    queryKey: ['searchTrial', run, trial, text],
    queryFn: ({ pageParam: from, signal }) =>
      call('searchTrial', { path: { run, trial }, query: { text, from } }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  })
  const hits = query.data?.pages.flatMap((page) => page.hits) ?? []
  // A part of a long log may have none.
  const isToGoOn = hits.length === 0 && query.hasNextPage && !query.isFetching
  useEffect(() => {
    if (isToGoOn) void query.fetchNextPage()
  }, [isToGoOn, query])
  if (query.error !== null) return <Problem error={query.error} />
  if (hits.length === 0)
    return query.data === undefined || query.hasNextPage ? (
      <Loading what="what was found" />
    ) : (
      <Empty title={`Nothing in the log has ${JSON.stringify(text)}.`} />
    )
  return (
    <ol className="hits" aria-label="Found">
      {hits.map(({ at, excerpt }) => (
        <li key={at}>
          <button type="button" className="quiet" onClick={() => onShow(at)}>
            {marked(excerpt, text)}
          </button>
        </li>
      ))}
      {query.hasNextPage && (
        <li>
          <button type="button" disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
            Search on
          </button>
        </li>
      )}
    </ol>
  )
}
