import { useMemo, useState } from 'react'
import { useApi } from '../api/client.ts'
import type { GuardMoment } from '../api/operations.ts'
import { Copy, Verdict } from './badges.tsx'
import { duration, usd } from './format.ts'
import { marked } from './marked.tsx'
import { branchWords, groupWords } from './timeline-rows.ts'
import { asShown, bodyOf, type Item, isBad, labelOf, type Turn, titleOf } from './turns.ts'

interface EventRowProps {
  readonly item: Item
  readonly run: string
  readonly trial: string
  /** The turns that begin here. */
  readonly turns: readonly Turn[]
  /** What a subagent did in this call. */
  readonly branch: { readonly items: readonly Item[]; readonly isOpen: boolean } | null
  /** What the guard decided about this call. */
  readonly guard: GuardMoment | null
  /** Marked in the texts. */
  readonly words: string | undefined
  readonly isOpen: boolean
  readonly isChosen: boolean
  readonly isMarked: boolean
  readonly onFold: () => void
  readonly onToggle: () => void
}

/** One event of the timeline. */
export function EventRow(props: EventRowProps) {
  const { item, turns, branch, guard, isOpen, isChosen, onFold, onToggle } = props
  const text = titleOf(item).trim()
  const title = text.split('\n', 1)[0]?.slice(0, 300) ?? ''
  const isLong = item.kind === 'message' && !isOpen
  const isDenied = guard !== null && guard.verdict !== 'pass'
  return (
    <article
      className={`event k-${item.kind}${isChosen ? ' chosen' : ''}${isBad(item) || isDenied ? ' bad' : ''}${item.depth > 0 ? ' nested' : ''}`}
      style={{ marginLeft: item.depth * 20 }}
      data-at={item.at}
    >
      {props.isMarked && <p className="first-difference">First difference</p>}
      <TurnHead turns={turns} />
      <button type="button" className="event-head" aria-expanded={isOpen} onClick={onToggle}>
        <span className="event-label">{labelOf(item)}</span>
        <span className="event-title">{title}</span>
        {isDenied && <Verdict value={guard.verdict === 'deny' ? 'denied' : 'refused'} />}
      </button>
      {isLong && title.length < text.length && <div className="event-text preview">{text.slice(0, 600)}</div>}
      {isOpen && <Body {...props} />}
      {branch !== null && (
        <button type="button" className="quiet branch" aria-expanded={branch.isOpen} onClick={onFold}>
          {branch.isOpen ? '▾' : '▸'} {branchWords(branch.items)}
        </button>
      )}
    </article>
  )
}

/** Several like calls, folded into one row. */
export function GroupRow({
  items,
  turns,
  isOpen,
  onToggle,
}: {
  readonly items: readonly Item[]
  readonly turns: readonly Turn[]
  readonly isOpen: boolean
  readonly onToggle: () => void
}) {
  const [first] = items
  if (first === undefined) return null
  return (
    <article
      className={`event k-tool${first.depth > 0 ? ' nested' : ''}`}
      style={{ marginLeft: first.depth * 20 }}
    >
      <TurnHead turns={turns} />
      <button type="button" className="event-head" aria-expanded={isOpen} onClick={onToggle}>
        <span className="event-label">{labelOf(first)}</span>
        <span className="event-title">
          {isOpen ? '▾' : '▸'} {items.length} calls{!isOpen && `: ${groupWords(items)}`}
        </span>
      </button>
    </article>
  )
}

/** When turns began, how long they took, and what they cost. What the boundary saw is better than a sum at the end. */
function TurnHead({ turns }: { readonly turns: readonly Turn[] }) {
  const [first, last] = [turns[0], turns.at(-1)]
  if (first === undefined || last === undefined) return null
  const tokens = turns.flatMap((turn) => turn.calls ?? turn.usage ?? [])
  const costs = tokens.flatMap(({ costUsd }) => costUsd ?? [])
  const modelMs = sum(turns.map(({ calls }) => calls?.seconds ?? 0)) * 1_000
  return (
    <p className="turn">
      <strong>
        {turns.length === 1
          ? `Turn ${first.number ?? ''}`
          : first.number === null
            ? `${turns.length} turns`
            : `Turns ${first.number}–${last.number}`}
      </strong>
      {first.began !== null && <span>at {duration(first.began * 1_000)}</span>}
      <span>
        took {duration(sum(turns.map(({ seconds }) => seconds)) * 1_000)}
        {modelMs >= 100 && `, ${duration(modelMs)} of it the model`}
      </span>
      {tokens.length > 0 && (
        <span>
          {sum(tokens.map(({ input }) => input)).toLocaleString('en-US')} in,{' '}
          {sum(tokens.map(({ output }) => output)).toLocaleString('en-US')} out
          {costs.length > 0 && `, ${usd(sum(costs))}`}
        </span>
      )}
    </p>
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The texts of an event; all of them when a person asks, because long ones are cut. */
function Body({ item, run, trial, guard, words }: EventRowProps) {
  const [isWhole, setWhole] = useState(false)
  const isCut = item.cut || item.result?.cut === true
  const ask = (from: number) => ({ path: { run, trial }, query: { from, limit: 1, whole: 'true' as const } })
  const own = useApi('trialEvents', ask(item.at), { enabled: isWhole, staleTime: Number.POSITIVE_INFINITY })
  const result = useApi('trialEvents', ask(item.result?.at ?? item.at), {
    enabled: isWhole && item.result !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const texts = useMemo(() => {
    const line = asShown(own.data?.events[0] ?? item)
    const answer = result.data?.events[0]?.event
    return bodyOf({
      ...item,
      ...line,
      result:
        item.result === null
          ? null
          : { ...item.result, event: answer?.event === 'tool_result' ? answer : item.result.event },
    })
  }, [item, own.data, result.data])
  return (
    <div className="event-body">
      {guard !== null && <GuardWords moment={guard} />}
      {texts.map(([name, text], at) => (
        <div key={at}>
          {name !== '' && <p className="event-part">{name}</p>}
          <div className="event-text">{text === '' ? '(empty)' : marked(text, words)}</div>
        </div>
      ))}
      <p className="event-end">
        {isCut && !isWhole && (
          <button type="button" onClick={() => setWhole(true)}>
            Show all of it
          </button>
        )}
        <Copy label="copy" text={() => texts.map(([, text]) => text).join('\n\n')} />
      </p>
    </div>
  )
}

/** What the guard decided, with its rules and its reason. */
export function GuardWords({ moment }: { readonly moment: GuardMoment }) {
  const { verdict, rules, reason, notice, notes } = moment
  const text = [reason, notice, ...notes].filter((part) => part !== null && part !== '').join('\n')
  return (
    <>
      <p className="event-part">
        guard: {verdict === 'pass' ? 'allowed' : verdict === 'deny' ? 'denied' : 'refused'}
        {rules.length > 0 && ` by ${rules.join(', ')}`}
      </p>
      {text !== '' && <div className="event-text">{text}</div>}
    </>
  )
}
