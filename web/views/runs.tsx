import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, exported, useApi } from '../api/client.ts'
import type { RunRow } from '../api/operations.ts'
import { CopyTable, Verdict } from '../parts/badges.tsx'
import { Choice, Search } from '../parts/fields.tsx'
import { count, duration, percent, time, usd } from '../parts/format.ts'
import { Answer, Empty, Problem } from '../parts/states.tsx'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'
import { workKinds } from '../parts/work-run.tsx'

const kinds = ['scenario', 'plugin', 'task', 'verify', 'plan']
const statuses = [
  'running',
  'pass',
  'fail',
  'infra',
  'invalid',
  'partial',
  'inconclusive',
  'interrupted',
  'unknown',
]
const pageSize = 50
const days: Readonly<Record<string, number>> = { 'last day': 1, 'last week': 7, 'last month': 31 }

/** All runs, live ones on top. */
export function Runs() {
  const [words, change] = useWords()
  const { kind, status, agent, model, tag, text, time: when } = words
  const asked = Number(words.offset ?? 0)
  const offset = Number.isSafeInteger(asked) && asked > 0 ? asked : 0
  const span = when === undefined ? undefined : days[when]
  const since =
    span === undefined ? undefined : new Date(Math.floor(Date.now() / 6e5) * 6e5 - span * 864e5).toISOString()
  const query = { kind, status, agent, model, tag, text, since, offset, limit: pageSize }
  const list = useApi('listRuns', { query } as never, {
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => (state.data?.runs.some(({ live }) => live) ? 2_000 : 4_000),
  })
  const set = (key: string) => (value: string | undefined) => change({ [key]: value, offset: undefined })
  return (
    <>
      <h1>Runs</h1>
      <div className="filters">
        <Search label="Search" value={text} onChange={set('text')} />
        <Choice label="Kind" value={kind} options={kinds} onChange={set('kind')} />
        <Choice label="Verdict" value={status} options={statuses} onChange={set('status')} />
        <Choice label="Agent" value={agent} options={list.data?.names.agents ?? []} onChange={set('agent')} />
        <Choice label="Model" value={model} options={list.data?.names.models ?? []} onChange={set('model')} />
        <Choice label="Tag" value={tag} options={list.data?.names.tags ?? []} onChange={set('tag')} />
        <Choice label="Time" value={when} options={Object.keys(days)} onChange={set('time')} />
      </div>
      <Answer query={list} what="runs">
        {({ runs, total }) =>
          total === 0 ? (
            <NoRuns
              isFiltered={Object.values({ kind, status, agent, model, tag, text, when }).some(Boolean)}
            />
          ) : runs.length === 0 ? (
            <Empty title={`There ${total === 1 ? 'is' : 'are'} only ${count(total, 'run')}.`}>
              <button type="button" onClick={() => change({ offset: undefined })}>
                Show the newest
              </button>
            </Empty>
          ) : (
            <>
              <RunTable runs={runs} />
              <Pager
                offset={offset}
                shown={runs.length}
                total={total}
                onChange={(next) => change({ offset: next })}
              />
              {exported === null && <NextRemoved />}
            </>
          )
        }
      </Answer>
    </>
  )
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No run fits these filters." />
  return (
    <Empty title="There are no runs yet.">
      <p>
        Make one: <code>gantry test</code> runs scenarios, <code>gantry plugin run</code> evaluates a plugin,{' '}
        <code>gantry verify</code> checks a repository.
      </p>
    </Empty>
  )
}

export function RunTable({ runs }: { readonly runs: readonly RunRow[] }) {
  const navigate = useNavigate()
  const [chosen, setChosen] = useRowKeys(
    runs.length,
    (index) => void navigate({ to: '/runs/$run', params: { run: runs[index]?.id ?? '' } } as never),
    (index) => document.getElementById(`row-${index}`)?.scrollIntoView({ block: 'nearest' }),
    'run',
  )
  const [marked, setMarked] = useState<readonly string[]>([])
  return (
    <>
      {marked.length > 1 && (
        <p className="marked">
          {count(marked.length, 'run')} marked.{' '}
          <Link to={'/compare' as never} search={{ sides: [...marked].reverse().join(',') } as never}>
            Compare them
          </Link>
        </p>
      )}
      <div className="scroll-x">
        <table className="list">
          <thead>
            <tr>
              <th>
                <span className="hidden">Mark</span>
              </th>
              <th>Verdict</th>
              <th>Run</th>
              <th>Kind</th>
              <th className="num">Trials</th>
              <th className="num">Passed</th>
              <th className="num">Cost</th>
              <th className="num">Time</th>
              <th>Started</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run, index) => (
              <tr
                key={run.id}
                id={`row-${index}`}
                className={index === chosen ? 'chosen' : undefined}
                onMouseDown={() => setChosen(index)}
              >
                <td>
                  {run.kind === 'scenario' && (
                    <input
                      type="checkbox"
                      aria-label={`mark ${run.id} to compare it`}
                      checked={marked.includes(run.id)}
                      onChange={({ target }) =>
                        setMarked(target.checked ? [...marked, run.id] : marked.filter((id) => id !== run.id))
                      }
                    />
                  )}
                </td>
                <td>
                  <Verdict value={run.live ? 'running' : run.status} />
                </td>
                <td className="title">
                  <Link to="/runs/$run" params={{ run: run.id }}>
                    {run.title === '' ? run.id : run.title}
                  </Link>
                  <small>{run.id}</small>
                </td>
                <td>{run.kind}</td>
                <td className="num">{trialsOf(run)}</td>
                <td className="num">{passedOf(run)}</td>
                <td className="num">{usd(run.totals?.cost_usd)}</td>
                <td className="num">{duration(run.totals?.duration_ms)}</td>
                <td>{time(run.startedAt)}</td>
                <td>{exported === null && <RunActions run={run} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </>
  )
}

function trialsOf({ kind, totals, live }: RunRow): string {
  if (totals === null || workKinds.includes(kind)) return '–'
  return live ? `${totals.trials}/${totals.trials + totals.not_run}` : String(totals.trials)
}

function passedOf({ totals }: RunRow): string {
  const counted = (totals?.counts.pass ?? 0) + (totals?.counts.fail ?? 0)
  return totals === null || counted === 0 ? '–' : percent(totals.counts.pass / counted)
}

/** Pin, bless, delete. */
export function RunActions({ run, onDeleted }: { readonly run: RunRow; readonly onDeleted?: () => void }) {
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>(null)
  const act = (work: Promise<unknown>): void => {
    work.then(() => queries.invalidateQueries(), setError)
  }
  const flag = (name: 'pinned' | 'blessed') => {
    const on = run.flags.includes(name)
    const word = name === 'pinned' ? 'pin' : 'bless'
    return (
      <button
        type="button"
        className="quiet"
        aria-pressed={on}
        title={
          name === 'pinned'
            ? 'Cleaning never removes a pinned run'
            : 'Later runs are compared with a blessed run'
        }
        onClick={() => act(call('flagRun', { path: { run: run.id }, body: { [name]: !on } }))}
      >
        {on ? `un${word}` : word}
      </button>
    )
  }
  const remove = (): void => {
    if (!confirm(`Delete ${run.id} with all its files? This cannot be undone.`)) return
    act(call('deleteRun', { path: { run: run.id } }).then(() => onDeleted?.()))
  }
  return (
    <span className="actions">
      {flag('pinned')}
      {run.kind === 'scenario' && flag('blessed')}
      {!run.live && (
        <button type="button" className="quiet danger" onClick={remove}>
          delete
        </button>
      )}
      {error !== null && <Problem error={error} />}
    </span>
  )
}

function Pager({
  offset,
  shown,
  total,
  onChange,
}: {
  readonly offset: number
  readonly shown: number
  readonly total: number
  readonly onChange: (offset: string | undefined) => void
}) {
  return (
    <p className="pager">
      {offset + 1} to {offset + shown} of {total.toLocaleString('en-US')}{' '}
      <button
        type="button"
        disabled={offset === 0}
        onClick={() => onChange(offset <= pageSize ? undefined : String(offset - pageSize))}
      >
        Newer
      </button>{' '}
      <button
        type="button"
        disabled={offset + shown >= total}
        onClick={() => onChange(String(offset + pageSize))}
      >
        Older
      </button>
    </p>
  )
}

/** What the next cleaning removes. */
function NextRemoved() {
  const { data } = useApi('retention', {}, { staleTime: 30_000 })
  if (data === undefined) return null
  if (data.next.length === 0) return <p className="note">The next cleaning removes no run.</p>
  return (
    <details className="note">
      <summary>The next cleaning removes {count(data.next.length, 'run')}.</summary>
      <ul>
        {data.next.map(({ id, reason }) => (
          <li key={id}>
            <Link to="/runs/$run" params={{ run: id }}>
              {id}
            </Link>
            : {reason === 'age' ? 'it is too old' : 'it cost nothing and there are newer ones'}
          </li>
        ))}
      </ul>
      <p>Pin a run to keep it.</p>
    </details>
  )
}
