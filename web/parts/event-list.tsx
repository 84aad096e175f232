import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Search } from './fields.tsx'
import { count } from './format.ts'
import { useKeys } from './keys.tsx'
import { Empty } from './states.tsx'
import { toggled } from './toggled.ts'

/** A row of a list of events. */
export interface ListedEvent {
  readonly key: string
  /** What people switch on and off. */
  readonly kind: string
  readonly at: string
  readonly label: string
  readonly title: string
  readonly body: readonly (readonly [name: string, text: string])[]
  readonly isBad?: boolean
  /** Shown bold. */
  readonly isMain?: boolean
  readonly depth?: number
}

interface EventListProps {
  readonly events: readonly ListedEvent[]
  readonly label: string
  readonly empty: string
  /** Kinds that are off at first. */
  readonly hidden?: readonly string[]
  readonly isLive?: boolean
  /** Key of the event to show. */
  readonly chosen?: string | undefined
  readonly onChoose?: (key: string) => void
  /** More below the texts of an opened event. */
  readonly children?: (event: ListedEvent) => ReactNode
}

/** Events that are all loaded, with kinds to switch, a search, and keys. */
export function EventList({
  events,
  label,
  empty,
  hidden: hiddenAtFirst = [],
  isLive = false,
  chosen: wanted,
  onChoose,
  children,
}: EventListProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set(hiddenAtFirst))
  const [opened, setOpened] = useState<ReadonlySet<string>>(
    () => new Set(wanted === undefined ? [] : [wanted]),
  )
  const [chosen, setChosen] = useState(wanted)
  const [text, setText] = useState<string | undefined>(undefined)
  const [isFollowing, setFollowing] = useState(isLive)
  const counts = useMemo(() => {
    const found = new Map<string, number>()
    for (const { kind } of events) found.set(kind, (found.get(kind) ?? 0) + 1)
    return found
  }, [events])
  const shown = useMemo(() => {
    const words = text?.toLowerCase()
    return events.filter(
      (event) =>
        !hidden.has(event.kind) &&
        (words === undefined ||
          `${event.label}\n${event.title}\n${event.body.join('\n')}`.toLowerCase().includes(words)),
    )
  }, [events, hidden, text])
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    getItemKey: (index) => shown[index]?.key ?? index,
    overscan: 8,
  })
  const toggle = (key: string): void => setOpened((before) => toggled(before, key))
  const choose = (key: string): void => {
    setChosen(key)
    onChoose?.(key)
  }
  useEffect(() => {
    if (wanted === undefined) return
    setChosen(wanted)
    setOpened((before) => new Set(before).add(wanted))
    const index = shown.findIndex(({ key }) => key === wanted)
    if (index >= 0) virtual.scrollToIndex(index, { align: 'center' })
  }, [wanted])
  useEffect(() => {
    if (isLive && isFollowing && shown.length > 0) virtual.scrollToIndex(shown.length - 1, { align: 'end' })
  }, [shown.length, isLive, isFollowing])
  const move = (by: number, isWanted: (event: ListedEvent) => boolean = () => true): void => {
    let index = shown.findIndex(({ key }) => key === chosen) + by
    while (shown[index] !== undefined && !isWanted(shown[index] as ListedEvent)) index += by
    const event = shown[index]
    if (event === undefined) return
    setFollowing(false)
    choose(event.key)
    virtual.scrollToIndex(index, { align: 'auto' })
  }
  useKeys([
    { key: 'j', label: 'next event', run: () => move(1) },
    { key: 'k', label: 'previous event', run: () => move(-1) },
    { key: 'f', label: 'next failure', run: () => move(1, (event) => event.isBad === true) },
    {
      key: 'Enter',
      label: 'open or fold the event',
      run: () => chosen !== undefined && toggle(chosen),
    },
  ])
  return (
    <section className="timeline" aria-label={label}>
      <div className="filters">
        <fieldset className="chips">
          <legend className="hidden">Kinds of events</legend>
          {[...counts].map(([kind, number]) => (
            <button
              key={kind}
              type="button"
              className="chip"
              aria-pressed={!hidden.has(kind)}
              onClick={() => setHidden(toggled(hidden, kind))}
            >
              {kind} {number}
            </button>
          ))}
        </fieldset>
        {isLive && (
          <button type="button" className="quiet" onClick={() => setFollowing(!isFollowing)}>
            {isFollowing ? 'stop following' : 'follow the end'}
          </button>
        )}
        <Search label="Search" value={text} onChange={setText} />
      </div>
      {shown.length === 0 ? (
        <Empty title={events.length === 0 ? empty : 'No event fits.'} />
      ) : (
        <div ref={box} className="events" role="feed" aria-label={label} aria-busy={isLive} tabIndex={-1}>
          <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, start, key }) => {
              const event = shown[index]
              if (event === undefined) return null
              const isOpen = opened.has(event.key)
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  style={{ position: 'absolute', top: start, width: '100%' }}
                >
                  <article
                    className={`event k-${event.kind}${event.key === chosen ? ' chosen' : ''}${event.isBad === true ? ' bad' : ''}${event.isMain === true ? ' main' : ''}`}
                    style={{ marginLeft: (event.depth ?? 0) * 20 }}
                  >
                    <button
                      type="button"
                      className="event-head"
                      aria-expanded={isOpen}
                      onClick={() => {
                        toggle(event.key)
                        choose(event.key)
                      }}
                    >
                      <span className="event-time">{event.at}</span>
                      <span className="event-label">{event.label}</span>
                      <span className="event-title">
                        {event.title.trim().split('\n', 1)[0]?.slice(0, 300)}
                      </span>
                    </button>
                    {isOpen && (
                      <div className="event-body">
                        {event.body.map(([name, part], at) => (
                          <div key={at}>
                            {name !== '' && <p className="event-part">{name}</p>}
                            <div className="event-text">{part === '' ? '(empty)' : part}</div>
                          </div>
                        ))}
                        {children?.(event)}
                      </div>
                    )}
                  </article>
                </div>
              )
            })}
          </div>
        </div>
      )}
      <p className="note">
        {count(shown.length, 'event')}
        {isLive && ', live'}
      </p>
    </section>
  )
}
