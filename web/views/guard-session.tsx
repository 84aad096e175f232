import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useApi } from '../api/client.ts'
import type { Explanation, GuardMoment, GuardSessionPage } from '../api/operations.ts'
import { Copy, Verdict } from '../parts/badges.tsx'
import { EventList, type ListedEvent } from '../parts/event-list.tsx'
import { EvidenceBars } from '../parts/evidence-bars.tsx'
import { count, duration, percent, time } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { Answer, Problem } from '../parts/states.tsx'
import { useWords } from '../parts/use-words.ts'
import { endName } from './guard.tsx'

const pollMs = 5_000
/** A session without a newer event is not polled. */
const quietMs = 10 * 60_000

/** One guarded session: calls, denials, evidence over time, how it ended. */
export function GuardSession() {
  const { session } = useParams({ strict: false }) as { readonly session: string }
  const query = useApi(
    'guardSession',
    { path: { session } },
    {
      refetchInterval: ({ state }) =>
        state.data !== undefined && Date.now() - Date.parse(state.data.row.last_at) < quietMs
          ? pollMs
          : false,
    },
  )
  return (
    <Answer query={query} what="the session">
      {(page) => <SessionPage key={session} page={page} />}
    </Answer>
  )
}

function SessionPage({ page }: { readonly page: GuardSessionPage }) {
  const { row, moments, left_out: leftOut, damaged } = page
  const [words, change] = useWords()
  const navigate = useNavigate()
  const rows = useMemo(
    () =>
      moments.map((moment) => rowOf({ ...moment, title: moment.title.replaceAll(`${row.directory}/`, '') })),
    [moments, row.directory],
  )
  const trial = trialOf(row)
  const byId = useMemo(() => new Map(moments.map((moment) => [moment.id, moment])), [moments])
  useKeys([{ key: 'u', label: 'up to the sessions', run: () => void navigate({ to: '/guard' } as never) }])
  return (
    <>
      <header className="head">
        <p className="crumbs">
          <Link to={'/guard' as never}>Guard</Link> /{' '}
          {trial === null ? (
            row.directory
          ) : (
            <Link to="/runs/$run/$trial" params={trial}>
              {trial.trial}
            </Link>
          )}{' '}
          / {row.session}
        </p>
        <h1>
          <Verdict value={endName(row)} /> {trial?.trial ?? row.directory.split('/').at(-1)}{' '}
          <small>{row.agent}</small>
        </h1>
        <p className="sentence">{sentenceOf(page)}</p>
        <p className="actions">
          <Copy
            text={() =>
              trial === null
                ? `gantry guard trace --session ${JSON.stringify(row.session)}`
                : `gantry guard trace ${page.ledger}`
            }
            label="copy command"
          />
          <Copy text={() => markdownOf(page)} label="copy as Markdown" />
          <Copy text={() => page.ledger} label="copy path" />
        </p>
      </header>
      {damaged > 0 && (
        <Problem
          error={`${count(damaged, 'line')} of the ledger ${damaged === 1 ? 'was' : 'were'} not written by the guard, or cut off. They do not count.`}
        />
      )}
      <Facts page={page} />
      <EvidenceBars evidence={page.evidence} from={row.started_at} to={row.last_at} />
      {leftOut > 0 && (
        <p className="note">
          {count(leftOut, 'older event')} not shown. All of them:{' '}
          <code>gantry guard trace {page.ledger}</code>
        </p>
      )}
      <div className="columns">
        <EventList
          events={rows}
          label="What happened"
          empty="Nothing happened yet."
          chosen={words.at}
          onChoose={(at) => change({ at })}
        >
          {({ key }) => {
            const decision = byId.get(key)?.decision ?? null
            return decision === null ? null : <Decision session={row.id} id={decision} />
          }}
        </EventList>
        <Figures page={page} onShow={(at) => change({ at })} />
      </div>
    </>
  )
}

/** The trial of a guarded arm whose session it is. */
function trialOf({ id }: GuardSessionPage['row']): { readonly run: string; readonly trial: string } | null {
  const [run, trial, project] = id.split('~')
  return run === undefined || trial === undefined || project === undefined ? null : { run, trial }
}

function sentenceOf({ row }: GuardSessionPage): string {
  const denied = row.denials === 0 ? 'no call was denied' : `${count(row.denials, 'call')} denied`
  const refused = row.refusals === 0 ? '' : `, ${count(row.refusals, 'attempt')} to stop refused`
  const none = row.refusals > 0 ? 'Nothing was accepted as done.' : 'No work was claimed to be done.'
  const end = row.end === null ? none : `${row.end}: ${row.end_why}.`
  return `${count(row.calls, 'call')}, ${denied}${refused}. ${end}`
}

function markdownOf(page: GuardSessionPage): string {
  const bad = page.moments.filter(({ verdict }) => verdict !== 'pass')
  return [
    `**${page.row.directory}** (${page.row.agent}, ${page.row.session}): ${sentenceOf(page)}`,
    '',
    ...bad.map(
      (moment) =>
        `- ${moment.verdict === 'deny' ? 'denied' : 'refused'} ${moment.tool ?? 'stop'} \`${moment.title.replaceAll('`', "'")}\` by ${moment.rules.join(', ')}`,
    ),
  ].join('\n')
}

function rowOf(moment: GuardMoment): ListedEvent {
  const { id, at, verdict, tool, title, result, exit_code: code, notice, reason, notes, rules } = moment
  const isLoop = rules.includes('detect-loops') || rules.includes('count-edits')
  const kind =
    verdict === 'deny'
      ? 'denied'
      : verdict === 'refuse'
        ? 'stop refused'
        : isLoop
          ? 'loop'
          : moment.kind === 'tool_before' || moment.kind === 'tool_after' || moment.kind === 'tool_denied'
            ? 'call'
            : moment.kind.replaceAll('_', ' ')
  const failed = result === 'failure' ? ` → ${code === null ? 'failed' : `exit ${code}`}` : ''
  const said = verdict === 'pass' ? notes.join('; ') : (reason?.split('\n', 1)[0] ?? '')
  return {
    key: id,
    kind,
    at: new Date(at).toLocaleTimeString('en-GB'),
    label: kind === 'call' || kind === 'loop' ? (tool ?? kind) : kind,
    title: [`${kind === 'denied' ? `${tool} ` : ''}${title}${failed}`, said].filter(Boolean).join(' · '),
    body: [
      ...(title === '' ? [] : ([[tool ?? moment.kind.replaceAll('_', ' '), title]] as const)),
      ...(reason === null ? [] : ([['reason, for the model', reason]] as const)),
      ...(notice === null ? [] : ([['for the user', notice]] as const)),
      ...(rules.length === 0 ? [] : ([['rules', rules.join(', ')]] as const)),
      ...(notes.length === 0 ? [] : ([['remembered', notes.join('\n')]] as const)),
    ],
    isBad: verdict !== 'pass' || result === 'failure',
    isMain: verdict !== 'pass' || moment.kind === 'prompt' || notes.some((note) => /^[A-Z]+: /.test(note)),
    depth: moment.agent_id === null ? 0 : 1,
  }
}

/** What a decision was based on, with the payload. */
function Decision({ session, id }: { readonly session: string; readonly id: string }) {
  const query = useApi(
    'guardDecision',
    { path: { session }, query: { id } },
    { staleTime: Number.POSITIVE_INFINITY },
  )
  return (
    <Answer query={query} what="the explanation">
      {(explanation) => <Explained explanation={explanation} />}
    </Answer>
  )
}

function Explained({ explanation }: { readonly explanation: Explanation }) {
  const { decision, event, evidence, facts, change } = explanation
  const { call } = event.event
  // The reason above has the texts of most rules.
  const shown = decision.findings.filter(({ text }) => decision.reason?.includes(text) !== true)
  return (
    <>
      {shown.map(({ rule, verdict, text }) => (
        <div key={rule}>
          <p className="event-part">
            rule {rule} ({verdict})
          </p>
          <div className="event-text">{text}</div>
        </div>
      ))}
      {change.length > 0 && (
        <>
          <p className="event-part">what would change it</p>
          <ul>
            {change.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      {call !== undefined && (
        <details open={decision.verdict !== 'pass'}>
          <summary>payload, redacted</summary>
          <div className="event-text">{JSON.stringify(call.input, null, 2)}</div>
        </details>
      )}
      {call?.outcome !== undefined && call.outcome.head !== '' && (
        <details>
          <summary>beginning of the output</summary>
          <div className="event-text">{call.outcome.head}</div>
        </details>
      )}
      {evidence.length > 0 && (
        <details open={decision.verdict === 'refuse'}>
          <summary>evidence at that time</summary>
          <ul>
            {evidence.map(({ command, status, at, rejected }) => (
              <li key={command}>
                <Verdict value={status} /> <code>{command}</code>
                {at !== null && <small> run at {time(at)}</small>}
                {rejected !== null && <small> the last run did not count: {rejected}</small>}
              </li>
            ))}
          </ul>
        </details>
      )}
      {facts.length > 0 && (
        <details>
          <summary>facts</summary>
          <dl className="detail">
            {facts.map(({ name, value }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd className="event-text">{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      <p className="note">
        <Copy
          text={() => `gantry guard explain ${decision.id}`}
          label={`copy: gantry guard explain ${decision.id}`}
        />
      </p>
    </>
  )
}

function Facts({ page: { row, report } }: { readonly page: GuardSessionPage }) {
  const facts: readonly (readonly [string, string])[] = [
    ['Started', time(row.started_at)],
    ['Time', duration(Date.parse(row.last_at) - Date.parse(row.started_at))],
    ['Calls', String(row.calls)],
    ['Failed', String(report.results.failure)],
    ['Denied', String(row.denials)],
    ['Stops refused', String(row.refusals)],
    ['Longest pause', duration(report.time.longest_pause_ms)],
  ]
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Denials first, then loops and figures. */
function Figures({
  page: { moments, report },
  onShow,
}: {
  readonly page: GuardSessionPage
  readonly onShow: (id: string) => void
}) {
  const bad = moments.filter(({ verdict }) => verdict !== 'pass')
  const hot = report.hot_files.filter(({ potential_loop: isLoop }) => isLoop)
  const { repeats } = report.loops
  return (
    <aside className="panel" aria-label="Figures">
      <h2>Denials</h2>
      {bad.length === 0 && <p className="note">The guard allowed everything.</p>}
      <ol className="gates">
        {bad.map((moment) => (
          <li key={moment.id} className="failed">
            <p className="gate-head">
              <Verdict value={moment.verdict === 'deny' ? 'denied' : 'refused'} />{' '}
              <small>{moment.rules.join(', ')}</small>
            </p>
            <button type="button" className="quiet" onClick={() => onShow(moment.id)}>
              {moment.tool ?? 'stop'} {(moment.title || moment.reason?.split('\n', 1)[0])?.slice(0, 200)}
            </button>
          </li>
        ))}
      </ol>
      <h2>Loops</h2>
      {hot.length + repeats.length === 0 && <p className="note">None.</p>}
      <ul>
        {hot.map(({ path, edits, most_before_green: most }) => (
          <li key={path}>
            <code>{path}</code>: {count(edits, 'edit')}, {most} of them without green tests in between
          </li>
        ))}
        {repeats.map(({ calls, times }) => (
          <li key={calls.join('\n')}>
            <code>{calls.join(' → ')}</code> {times} times with the same result
          </li>
        ))}
      </ul>
      {report.verification.length > 0 && (
        <>
          <h2>Checks</h2>
          <ul>
            {report.verification.map(({ command, runs, passed }) => (
              <li key={command}>
                <code>{command}</code>: {passed} of {count(runs, 'run')} green
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>Tools</h2>
      <table className="list">
        <tbody>
          {report.tools.map(({ tool, calls, share, failures, denials }) => (
            <tr key={tool}>
              <td>{tool}</td>
              <td className="num">{calls}</td>
              <td className="num">{percent(share)}</td>
              <td className="num">{failures > 0 && `${failures} failed`}</td>
              <td className="num">{denials > 0 && `${denials} denied`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {report.suggestions.length > 0 && (
        <>
          <h2>Suggestions</h2>
          <ul>
            {report.suggestions.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </aside>
  )
}
