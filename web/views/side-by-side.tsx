import { Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useApi } from '../api/client.ts'
import { Verdict } from '../parts/badges.tsx'
import { agentName, duration, usd } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { Timeline } from '../parts/timeline.tsx'
import type { Item } from '../parts/turns.ts'
import { useWords } from '../parts/use-words.ts'

/** What is loaded of a transcript, from its beginning on. */
interface Loaded {
  readonly items: readonly Item[]
  readonly isAll: boolean
}

const nothing: Loaded = { items: [], isAll: false }

/** The transcripts of two trials beside each other, with the first difference marked. */
export function SideBySide() {
  const [words] = useWords()
  const [a, setA] = useState<Loaded>(nothing)
  const [b, setB] = useState<Loaded>(nothing)
  const [first, second] = useMemo(() => firstDifference(a, b), [a, b])
  const [before, after] = [words.a?.split('/'), words.b?.split('/')]
  if (before?.[1] === undefined || after?.[1] === undefined)
    return (
      <Empty title="Name two trials.">
        <p>Open this page from a row of a comparison.</p>
      </Empty>
    )
  return (
    <>
      <h1>Side by side</h1>
      <p className="note">
        {first === null && second === null
          ? 'Both did the same, as far as they are loaded.'
          : first === null || second === null
            ? 'One ends where the other goes on: that step is marked.'
            : 'The first step that differs is marked in both.'}
      </p>
      <div className="halves">
        <Half name="A" run={before[0] ?? ''} trial={before[1]} mark={first} onLoaded={setA} />
        <Half name="B" run={after[0] ?? ''} trial={after[1]} mark={second} onLoaded={setB} />
      </div>
    </>
  )
}

function Half({
  name,
  run,
  trial,
  mark,
  onLoaded,
}: {
  readonly name: string
  readonly run: string
  readonly trial: string
  readonly mark: number | null
  readonly onLoaded: (loaded: Loaded) => void
}) {
  const query = useApi('getTrial', { path: { run, trial } })
  const [at, setAt] = useState<number | null>(null)
  const onItems = useCallback(
    (items: readonly Item[], isAll: boolean) => onLoaded({ items, isAll }),
    [onLoaded],
  )
  return (
    <section aria-label={name}>
      <Answer query={query} what="the trial">
        {({ record }) => (
          <p>
            {name}{' '}
            <Link to="/runs/$run/$trial" params={{ run, trial }}>
              {record === null ? trial : `${record.case}, ${agentName(record)} #${record.attempt}`}
            </Link>{' '}
            {record !== null && (
              <>
                <Verdict value={record.verdict} />{' '}
                <small>
                  {duration(record.durationMs)}, {usd(record.costUsd)}
                </small>
              </>
            )}
            {mark !== null && (
              <button type="button" className="quiet" onClick={() => setAt(mark)}>
                go to the difference
              </button>
            )}
          </p>
        )}
      </Answer>
      <Timeline
        run={run}
        trial={trial}
        at={at}
        isLive={false}
        onChoose={setAt}
        mark={mark}
        onItems={onItems}
      />
    </section>
  )
}

/**
 * Positions of the first steps of two agents that are not the same; null when one of them has no such step. A step that may only not
 * be loaded yet is no difference.
 */
function firstDifference(a: Loaded, b: Loaded): readonly [number | null, number | null] {
  const [stepsA, stepsB] = [steps(a.items), steps(b.items)]
  for (let index = 0; index < Math.max(stepsA.length, stepsB.length); index += 1) {
    const [one, other] = [stepsA[index], stepsB[index]]
    if ((one === undefined && !a.isAll) || (other === undefined && !b.isAll)) break
    if (one?.text !== other?.text) return [one?.at ?? null, other?.at ?? null]
  }
  return [null, null]
}

/** What an agent did: its messages and calls, and what it printed. Times, paths of the workspace and results are not compared. */
function steps(items: readonly Item[]): { readonly at: number; readonly text: string }[] {
  return items.flatMap(({ at, event }) => {
    if (event?.event === 'message' && event.role === 'assistant') return [{ at, text: plain(event.text) }]
    if (event?.event === 'tool_call')
      return [{ at, text: plain(`${event.tool} ${event.command ?? JSON.stringify(event.input ?? null)}`) }]
    if (event?.event === 'output') return [{ at, text: plain(event.text) }]
    if (event?.event === 'target_call') return [{ at, text: plain(event.args.join(' ')) }]
    return []
  })
}

function plain(text: string): string {
  return text.replaceAll(/\S+/g, (word) => word.replace(/^.*\/trials\/[^/"']+/, '')).trim()
}
