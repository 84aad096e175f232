import { Link } from '@tanstack/react-router'
import { exported } from '../api/client.ts'
import type { Evidence } from '../api/operations.ts'
import { Verdict } from './badges.tsx'
import { GuardWords } from './event-row.tsx'
import { count, duration, usd } from './format.ts'
import { Empty } from './states.tsx'
import { answerWords, isBadCall, isKnown } from './turns.ts'

/** Calls of the agent's model, with what the boundary did. */
export function ModelCalls({
  calls,
  onShow,
}: {
  readonly calls: Evidence['model_calls']
  readonly onShow: (at: number) => void
}) {
  const rows = calls.flatMap(({ at, event }) =>
    event.event === 'model_call' && isKnown(event) ? [{ at, event }] : [],
  )
  if (rows.length === 0)
    return (
      <Empty title="No call of a model was seen.">
        <p>
          They are logged when Gantry is between the agent and its model: with <code>model_script</code>,{' '}
          <code>--replay</code>, <code>--fault</code> or <code>meter: always</code>.
        </p>
      </Empty>
    )
  const models = [...new Set(rows.map(({ event }) => event.model))]
  const kinds = Map.groupBy(rows, ({ event }) => answerWords(event))
  return (
    <>
      <p>
        {count(rows.length, 'call')}
        {models.length === 1 && ` of ${models[0]}`}:{' '}
        {[...kinds].map(([words, of]) => `${of.length} ${words}`).join(', ')}
      </p>
      <div className="scroll-x" tabIndex={0} role="group" aria-label="Calls of the model">
        <table className="list">
          <thead>
            <tr>
              <th>Call</th>
              <th>Answer</th>
              <th className="num">In</th>
              <th className="num">Out</th>
              <th className="num">Cost</th>
              <th className="num">Time</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, event }) => (
              <tr key={at}>
                <td>
                  <button type="button" className="quiet short" onClick={() => onShow(at)}>
                    #{event.index + 1}
                    {models.length > 1 && ` ${event.model}`}
                  </button>
                  {event.kind !== 'turn' && <small> {event.kind.replaceAll('_', ' ')}</small>}
                </td>
                <td className={isBadCall(event) ? 'v-fail' : undefined}>{answerWords(event)}</td>
                <td className="num">{tokens(inputOf(event))}</td>
                <td className="num">{tokens(event.output_tokens)}</td>
                <td className="num">{usd(event.cost_usd)}</td>
                <td className="num">{duration(event.duration_secs * 1_000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function inputOf(event: Parameters<typeof isBadCall>[0]): number | undefined {
  const { input_tokens: fresh, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = event
  return fresh === undefined ? undefined : fresh + read + written
}

function tokens(value: number | undefined): string {
  return value === undefined ? '–' : value.toLocaleString('en-US')
}

/** What the guard of a guarded arm decided; what it refused comes first. */
export function GuardDecisions({
  guard,
  onShow,
}: {
  readonly guard: Evidence['guard']
  readonly onShow: (at: number) => void
}) {
  return guard.map(({ row, moments }) => {
    const bad = moments.filter(({ verdict }) => verdict !== 'pass')
    const said = moments.filter(
      ({ verdict, rules, notes }) => verdict === 'pass' && rules.length + notes.length > 0,
    )
    return (
      <section key={row.id} aria-label="Session of the guard">
        <p>
          {count(row.calls, 'call')}, {row.denials} denied, {count(row.refusals, 'attempt')} to stop refused.{' '}
          {row.end === null ? 'Nothing was accepted as done.' : `${row.end}: ${row.end_why}.`}{' '}
          {exported === null && (
            <Link to={'/guard/$session' as never} params={{ session: row.id } as never}>
              the whole session
            </Link>
          )}
        </p>
        <ol className="gates">
          {[...bad, ...said].map((moment) => (
            <li key={moment.id} className={moment.verdict === 'pass' ? undefined : 'failed'}>
              {moment.verdict !== 'pass' && (
                <p className="gate-head">
                  <Verdict value={moment.verdict === 'deny' ? 'denied' : 'refused'} />
                </p>
              )}
              {moment.event_at !== null && (
                <button type="button" className="quiet" onClick={() => onShow(moment.event_at ?? 0)}>
                  → {moment.tool ?? moment.kind.replaceAll('_', ' ')} {moment.title.slice(0, 160)}
                </button>
              )}
              <GuardWords moment={moment} />
            </li>
          ))}
        </ol>
        {bad.length + said.length === 0 && <p className="note">The guard allowed everything.</p>}
      </section>
    )
  })
}
