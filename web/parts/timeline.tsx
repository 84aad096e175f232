import { useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { call, type Failure, useApi } from '../api/client.ts'
import type { EventPage } from '../api/operations.ts'
import { Search } from './fields.tsx'
import { bytes, count, duration, usd } from './format.ts'
import { useKeys } from './keys.tsx'
import { Empty, Loading, Problem } from './states.tsx'
import { bodyOf, type Item, type ItemKind, isBad, itemKinds, itemsOf, labelOf, titleOf } from './turns.ts'

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
  readonly onItems?: (items: readonly Item[]) => void
}

const pollMs = 1_000

/** What happened in a trial, turn by turn. Loads the log in parts, as far as a person scrolls. */
export function Timeline({ run, trial, at, isLive, onChoose, mark = null, onItems }: TimelineProps) {
  const [hidden, setHidden] = useState<ReadonlySet<ItemKind>>(new Set(['usage']))
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set(at === null ? [] : [at]))
  const [isAllOpen, setAllOpen] = useState(false)
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
  const all = useMemo(() => itemsOf(events), [events])
  const items = useMemo(() => all.filter(({ kind }) => !hidden.has(kind)), [all, hidden])
  useEffect(() => onItems?.(all), [all, onItems])
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    getItemKey: (index) => items[index]?.at ?? index,
    overscan: 8,
  })
  const indexOf = (place: number): number =>
    items.findIndex((item) => item.at === place || item.result?.at === place)
  const [chosen, setChosen] = useState(at)
  const size = query.data?.pages[0]?.bytes ?? 0

  /** Shows a place, loading it first when it is not there. */
  const show = (place: number): void => {
    setChosen(place)
    setOpened((before) => new Set(before).add(place))
    const last = query.data?.pages.at(-1)?.next ?? 0
    const first = events[0]?.at ?? 0
    if (place < first || place >= last) setStart(place)
  }
  useEffect(() => {
    if (at !== null && at !== chosen) show(at)
  }, [at])
  const shownFor = useRef('')
  useEffect(() => {
    const index = chosen === null ? -1 : indexOf(chosen)
    if (index < 0 || shownFor.current === `${chosen} ${start}`) return
    shownFor.current = `${chosen} ${start}`
    virtual.scrollToIndex(index, { align: 'center' })
  })
  const lastVisible = virtual.getVirtualItems().at(-1)?.index ?? 0
  useEffect(() => {
    if (lastVisible >= items.length - 20 && query.hasNextPage && !query.isFetching) void query.fetchNextPage()
  }, [lastVisible, items.length, query])

  const toggle = (place: number): void =>
    setOpened((before) => {
      const next = new Set(before)
      if (!next.delete(place)) next.add(place)
      return next
    })
  const move = (by: number): void => {
    const now = chosen === null ? -1 : indexOf(chosen)
    const item = items[Math.max(0, Math.min(items.length - 1, now + by))]
    if (item === undefined) return
    setChosen(item.at)
    onChoose(item.at)
    virtual.scrollToIndex(items.indexOf(item), { align: 'auto' })
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
      run: () => moveTo((item) => item.usage !== null || isTurn(item, items), 1),
    },
    { key: 'K', label: 'previous turn', run: () => moveTo((item) => isTurn(item, items), -1) },
    { key: 'f', label: 'next failure', run: () => moveTo(isBad, 1) },
    { key: 'Enter', label: 'open or fold the event', run: () => chosen !== null && toggle(chosen) },
    { key: 'e', label: 'open or fold all', run: () => setAllOpen(!isAllOpen) },
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
                onClick={() =>
                  setHidden((before) => {
                    const next = new Set(before)
                    if (!next.delete(kind)) next.add(kind)
                    return next
                  })
                }
              >
                {kind} {counts.get(kind)}
              </button>
            ))}
        </fieldset>
        <button type="button" className="quiet" onClick={() => setAllOpen(!isAllOpen)}>
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
              <button type="button" onClick={() => void query.fetchPreviousPage()}>
                Load what came before
              </button>
            </p>
          )}
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, start: top, key }) => {
              const item = items[index]
              if (item === undefined) return null
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  style={{ position: 'absolute', top, width: '100%' }}
                >
                  <EventRow
                    item={item}
                    run={run}
                    trial={trial}
                    isTurn={isTurn(item, items)}
                    isOpen={isAllOpen !== opened.has(item.at)}
                    isChosen={item.at === chosen || item.result?.at === chosen}
                    isMarked={mark === item.at}
                    onToggle={() => {
                      toggle(item.at)
                      setChosen(item.at)
                      onChoose(item.at)
                    }}
                  />
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
      </p>
    </section>
  )
}

/** Whether a turn begins with this row. */
function isTurn(item: Item, items: readonly Item[]): boolean {
  if (item.turn === 0) return false
  const before = items[items.indexOf(item) - 1]
  return before === undefined || before.turn !== item.turn
}

function EventRow({
  item,
  run,
  trial,
  isTurn: startsTurn,
  isOpen,
  isChosen,
  isMarked,
  onToggle,
}: {
  readonly item: Item
  readonly run: string
  readonly trial: string
  readonly isTurn: boolean
  readonly isOpen: boolean
  readonly isChosen: boolean
  readonly isMarked: boolean
  readonly onToggle: () => void
}) {
  const title = titleOf(item).trim().split('\n', 1)[0]?.slice(0, 300) ?? ''
  const isLong = item.kind === 'message' && !isOpen
  return (
    <article
      className={`event k-${item.kind}${isChosen ? ' chosen' : ''}${isBad(item) ? ' bad' : ''}`}
      style={{ marginLeft: item.depth * 20 }}
      data-at={item.at}
    >
      {isMarked && <p className="first-difference">First difference</p>}
      {startsTurn && (
        <p className="turn">
          Turn {item.turn}
          <span>{duration(item.seconds * 1_000)}</span>
          {item.usage !== null && (
            <span>
              {item.usage.input.toLocaleString('en-US')} in, {item.usage.output.toLocaleString('en-US')} out
              {item.usage.costUsd !== null && `, ${usd(item.usage.costUsd)}`}
            </span>
          )}
        </p>
      )}
      <button type="button" className="event-head" aria-expanded={isOpen} onClick={onToggle}>
        <span className="event-label">{labelOf(item)}</span>
        <span className="event-title">{title}</span>
      </button>
      {isLong && title.length < titleOf(item).trim().length && (
        <div className="event-text preview">{titleOf(item).slice(0, 600)}</div>
      )}
      {isOpen && <Body item={item} run={run} trial={trial} />}
    </article>
  )
}

/** The texts of an event; all of them when a person asks, because long ones are cut. */
function Body({ item, run, trial }: { readonly item: Item; readonly run: string; readonly trial: string }) {
  const [isWhole, setWhole] = useState(false)
  const isCut = item.cut || item.result?.cut === true
  const ask = (from: number) => ({ path: { run, trial }, query: { from, limit: 1, whole: 'true' as const } })
  const own = useApi('trialEvents', ask(item.at), { enabled: isWhole, staleTime: Number.POSITIVE_INFINITY })
  const result = useApi('trialEvents', ask(item.result?.at ?? item.at), {
    enabled: isWhole && item.result !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const whole = useMemo((): Item => {
    const event = own.data?.events[0]?.event ?? item.event
    const answer = result.data?.events[0]?.event
    return {
      ...item,
      event,
      result:
        item.result === null
          ? null
          : { ...item.result, event: answer?.event === 'tool_result' ? answer : item.result.event },
    }
  }, [item, own.data, result.data])
  return (
    <div className="event-body">
      {bodyOf(whole).map(([name, text], at) => (
        <div key={at}>
          {name !== '' && <p className="event-part">{name}</p>}
          <div className="event-text">{text === '' ? '(empty)' : text}</div>
        </div>
      ))}
      {isCut && !isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </div>
  )
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
  const query = useApi('searchTrial', { path: { run, trial }, query: { text, from: 0 } })
  if (query.error !== null) return <Problem error={query.error} />
  if (query.data === undefined) return <Loading what="what was found" />
  const { hits, next } = query.data
  if (hits.length === 0) return <Empty title={`Nothing in the log has ${JSON.stringify(text)}.`} />
  return (
    <ol className="hits" aria-label="Found">
      {hits.map(({ at, excerpt }) => (
        <li key={at}>
          <button type="button" className="quiet" onClick={() => onShow(at)}>
            {excerpt}
          </button>
        </li>
      ))}
      {next !== null && <li>and more: search for something longer</li>}
    </ol>
  )
}
