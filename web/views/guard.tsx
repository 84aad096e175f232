import { Link, useNavigate } from '@tanstack/react-router'
import { useApi } from '../api/client.ts'
import type { GuardSession } from '../api/operations.ts'
import { CopyTable, Verdict } from '../parts/badges.tsx'
import { Chips, Choice, Search } from '../parts/fields.tsx'
import { count, duration, time } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'

const pageSize = 200
const listMax = 1_000

const filters = [
  [undefined, 'all'],
  ['denials', 'with denials'],
  ['refusals', 'stop refused'],
  ['open', 'not verified'],
] as const

/** Sessions of guarded agents, newest first. */
export function Guard() {
  const [words, change] = useWords()
  const limit = words.all === undefined ? pageSize : listMax
  const list = useApi('guardSessions', { query: { limit } }, { refetchInterval: 10_000 })
  const { text, project, agent, only } = words
  const all = list.data?.sessions ?? []
  const wanted = all.filter(
    (row) =>
      (project === undefined || row.directory === project) &&
      (agent === undefined || row.agent === agent) &&
      (text === undefined || `${row.session}\n${row.directory}`.toLowerCase().includes(text.toLowerCase())) &&
      (only !== 'denials' || row.denials > 0) &&
      (only !== 'refusals' || row.refusals > 0) &&
      (only !== 'open' || endName(row) === 'not verified'),
  )
  const names = (key: 'directory' | 'agent'): string[] => [...new Set(all.map((row) => row[key]))].sort()
  return (
    <>
      <h1>Guard</h1>
      <div className="filters">
        <Chips
          label="Which sessions"
          value={only}
          options={filters}
          onChange={(value) => change({ only: value })}
        />
        <Search label="Search" value={text} onChange={(value) => change({ text: value })} />
        <Choice
          label="Project"
          value={project}
          options={names('directory')}
          onChange={(value) => change({ project: value })}
        />
        <Choice
          label="Agent"
          value={agent}
          options={names('agent')}
          onChange={(value) => change({ agent: value })}
        />
      </div>
      <Answer query={list} what="sessions">
        {({ total, sessions }) =>
          total === 0 ? (
            <Empty title="No guarded agent has worked yet.">
              <p>
                Install the guard in a project with <code>gantry guard install</code>, then start your agent
                there.
              </p>
            </Empty>
          ) : wanted.length === 0 ? (
            <Empty title="No session fits these filters." />
          ) : (
            <>
              <SessionTable sessions={wanted} />
              {total > sessions.length && (
                <p className="note">
                  {count(total, 'session')} in all.{' '}
                  {words.all === undefined && (
                    <button type="button" onClick={() => change({ all: '1' })}>
                      Show more
                    </button>
                  )}
                </p>
              )}
            </>
          )
        }
      </Answer>
    </>
  )
}

function SessionTable({ sessions }: { readonly sessions: readonly GuardSession[] }) {
  const navigate = useNavigate()
  const [chosen, setChosen] = useRowKeys(
    sessions.length,
    (index) =>
      void navigate({ to: '/guard/$session', params: { session: sessions[index]?.id ?? '' } } as never),
    (index) => document.getElementById(`row-${index}`)?.scrollIntoView({ block: 'nearest' }),
    'session',
  )
  return (
    <>
      <div className="scroll-x" tabIndex={0}>
        <table className="list">
          <thead>
            <tr>
              <th>End</th>
              <th>Session</th>
              <th>Agent</th>
              <th className="num">Calls</th>
              <th className="num">Denied</th>
              <th className="num">Stops refused</th>
              <th className="num">Time</th>
              <th>Started</th>
            </tr>
          </thead>
          <tbody>
            {sessions.map((row, index) => (
              <tr
                key={row.id}
                id={`row-${index}`}
                className={index === chosen ? 'chosen' : undefined}
                onMouseDown={() => setChosen(index)}
              >
                <td>
                  <Verdict value={endName(row)} />
                </td>
                <td className="title">
                  <Link to={'/guard/$session' as never} params={{ session: row.id } as never}>
                    {row.directory.split('/').at(-1)}
                  </Link>
                  <small>{row.session}</small>
                </td>
                <td>{row.agent}</td>
                <td className="num">{row.calls}</td>
                <td className={`num${row.denials > 0 ? ' removed' : ''}`}>{row.denials}</td>
                <td className={`num${row.refusals > 0 ? ' removed' : ''}`}>{row.refusals}</td>
                <td className="num">{duration(Date.parse(row.last_at) - Date.parse(row.started_at))}</td>
                <td>{time(row.started_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </>
  )
}

/** How a session ended, in a word. */
export function endName({ end, refusals }: GuardSession): string {
  return end?.toLowerCase() ?? (refusals > 0 ? 'not verified' : 'no verdict')
}
