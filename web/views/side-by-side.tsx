import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useApi } from '../api/client.ts'
import { Verdict } from '../parts/badges.tsx'
import { agentName, duration, usd } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { Timeline } from '../parts/timeline.tsx'
import type { Item } from '../parts/turns.ts'
import { useWords } from '../parts/use-words.ts'

/** The transcripts of two trials beside each other, with the first difference marked. */
export function SideBySide() {
  const [words] = useWords()
  const [a, setA] = useState<readonly Item[]>([])
  const [b, setB] = useState<readonly Item[]>([])
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
          : 'The first step that differs is marked in both.'}
      </p>
      <div className="halves">
        <Half name="A" run={before[0] ?? ''} trial={before[1]} mark={first} onItems={setA} />
        <Half name="B" run={after[0] ?? ''} trial={after[1]} mark={second} onItems={setB} />
      </div>
    </>
  )
}

function Half({
  name,
  run,
  trial,
  mark,
  onItems,
}: {
  readonly name: string
  readonly run: string
  readonly trial: string
  readonly mark: number | null
  readonly onItems: (items: readonly Item[]) => void
}) {
  const query = useApi('getTrial', { path: { run, trial } })
  const [at, setAt] = useState<number | null>(null)
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

/** Positions of the first steps of two agents that are not the same; null when one of them has no such step. */
function firstDifference(a: readonly Item[], b: readonly Item[]): readonly [number | null, number | null] {
  const [stepsA, stepsB] = [steps(a), steps(b)]
  for (let index = 0; index < Math.max(stepsA.length, stepsB.length); index += 1) {
    const [one, other] = [stepsA[index], stepsB[index]]
    if (one?.text !== other?.text) return [one?.at ?? null, other?.at ?? null]
  }
  return [null, null]
}

/** What an agent did: its messages and calls. Times, paths of the workspace and results are not compared. */
function steps(items: readonly Item[]): { readonly at: number; readonly text: string }[] {
  return items.flatMap(({ at, event }) => {
    if (event?.event === 'message' && event.role === 'assistant') return [{ at, text: plain(event.text) }]
    if (event?.event === 'tool_call')
      return [{ at, text: plain(`${event.tool} ${event.command ?? JSON.stringify(event.input ?? null)}`) }]
    return []
  })
}

function plain(text: string): string {
  return text.replaceAll(/\S*\/trials\/[^/\s"']+/g, '').trim()
}
