import { Link } from '@tanstack/react-router'
import { useApi } from '../api/client.ts'
import type { EvaluationSummary, PluginRun as PluginAnswer } from '../api/operations.ts'
import { CopyTable, RateBar, Verdict } from './badges.tsx'
import { count, usd } from './format.ts'
import { Answer, Empty } from './states.tsx'

/** Sections of the report that this page shows in its own way. */
export const shownByPlugin = ['What to change', 'Components', 'What fired instead', 'Findings in the files']

/** An evaluation of a plugin: what fired, what fired instead, and what to change. */
export function PluginRun({ run }: { readonly run: string }) {
  const query = useApi('pluginRun', { path: { run } })
  if (query.error?.status === 404) return <Empty title={query.error.message}>{query.error.hint}</Empty>
  return (
    <Answer query={query} what="the evaluation">
      {(answer) => (
        <>
          <Changes answer={answer} />
          <Components summary={answer.summary} />
          <Confusion run={run} summary={answer.summary} />
          <Arms summary={answer.summary} />
          <Failures run={run} answer={answer} />
          <Listing answer={answer} />
          <Findings answer={answer} />
          {answer.next_steps.length > 0 && (
            <section aria-label="Next">
              <h2>Next</h2>
              <ul>
                {answer.next_steps.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </Answer>
  )
}

function Changes({ answer: { changes } }: { readonly answer: PluginAnswer }) {
  if (changes.length === 0) return null
  return (
    <section aria-label="What to change">
      <h2>What to change</h2>
      <ul className="advice">
        {changes.map(({ file, because }) => (
          <li key={file}>
            <code>{file}</code> {because}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Components({ summary }: { readonly summary: EvaluationSummary }) {
  const rows = Object.entries(summary.by_component)
  if (rows.length === 0) return null
  return (
    <section aria-label="Components">
      <h2>Components</h2>
      <div className="scroll-x" tabIndex={0}>
        <table className="list">
          <thead>
            <tr>
              <th>Component</th>
              <th title="Of the times it should have fired, how often it did">Recall</th>
              <th title="Of the times it fired, how often it should have">Precision</th>
              <th className="num">Missed</th>
              <th className="num">Wrongly</th>
              <th className="num">Quality</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([id, metrics]) => (
              <tr key={id}>
                <td>{id}</td>
                <td>
                  <RateBar rate={metrics.recall} label={`recall of ${id}`} />
                </td>
                <td>
                  <RateBar rate={metrics.precision} label={`precision of ${id}`} />
                </td>
                <td className="num">
                  {metrics.false_negatives} of {metrics.false_negatives + metrics.true_positives}
                </td>
                <td className="num">{metrics.false_positives + metrics.fired_instead}</td>
                <td className="num">{metrics.avg_quality?.toFixed(1) ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </section>
  )
}

/** Expected components by what fired. Everything off the diagonal is wrong. */
function Confusion({ run, summary }: { readonly run: string; readonly summary: EvaluationSummary }) {
  const { confusion } = summary
  const expected = confusion.map((row) => row.expected)
  const fired = confusion.flatMap((row) => row.fired.map(({ component }) => component))
  const columns = [...new Set([...expected.filter((name) => fired.includes(name)), ...fired])]
  if (confusion.length === 0) return null
  return (
    <section aria-label="What fired instead">
      <h2>What fired instead</h2>
      <div className="scroll-x" tabIndex={0}>
        <table className="matrix">
          <thead>
            <tr>
              <th scope="col">expected ↓ fired →</th>
              {columns.map((name) => (
                <th scope="col" key={name}>
                  {named(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {confusion.map((row) => (
              <tr key={row.expected}>
                <th scope="row">{named(row.expected)}</th>
                {columns.map((name) => {
                  const cell = row.fired.find(({ component }) => component === name)
                  const isRight = name === row.expected
                  return (
                    <td key={name}>
                      {cell === undefined ? null : (
                        <Link
                          to="/runs/$run"
                          params={{ run }}
                          search={(cell.scenarios.length === 1 ? { case: cell.scenarios[0] } : {}) as never}
                          className={`cell share-${isRight ? 4 : 0}`}
                          title={cell.scenarios.join(', ')}
                        >
                          {cell.count}
                        </Link>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </section>
  )
}

function named(component: string): string {
  return component === 'none' ? 'nothing' : component
}

function Arms({ summary: { by_arm: arms } }: { readonly summary: EvaluationSummary }) {
  const rows = Object.entries(arms)
  if (rows.length < 2) return null
  return (
    <section aria-label="Arms">
      <h2>Arms</h2>
      <div className="scroll-x" tabIndex={0}>
        <table className="list">
          <thead>
            <tr>
              <th>Arm</th>
              <th>Passed</th>
              <th>Fired as it should</th>
              <th className="num">Trials</th>
              <th className="num">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([arm, metrics]) => (
              <tr key={arm}>
                <td>{arm}</td>
                <td>
                  <RateBar rate={metrics.pass_rate} label={`pass rate of ${arm}`} />
                </td>
                <td>
                  <RateBar rate={metrics.accuracy} label={`accuracy of ${arm}`} />
                </td>
                <td className="num">{metrics.total_trials}</td>
                <td className="num">{usd(metrics.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </section>
  )
}

function Failures({ run, answer: { failures } }: { readonly run: string; readonly answer: PluginAnswer }) {
  return (
    <section aria-label="Failed scenarios">
      <h2>Failed scenarios</h2>
      {failures.length === 0 && <p className="note">None.</p>}
      <ol className="gates">
        {failures.map(({ trial, scenario, prompt, reason, advice }) => (
          <li key={trial} className="failed">
            <p className="gate-head">
              <Verdict value="fail" short />{' '}
              <Link to="/runs/$run/$trial" params={{ run, trial }}>
                {scenario}
              </Link>{' '}
              <small>{trial}</small>
            </p>
            {prompt !== null && <p className="gate-message">“{prompt}”</p>}
            <p className="gate-message">{reason}</p>
            {advice.map((text) => (
              <p key={text} className="note">
                Likely cause: {text}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** How much of the listing that the model sees is used, and by what. */
function Listing({ answer: { listing } }: { readonly answer: PluginAnswer }) {
  const { budget_characters: budget, used_characters: used, reserved_characters: reserved = 0 } = listing
  const entries = listing.entries.toSorted((a, b) => b.characters - a.characters)
  const width = (characters: number): number => (characters / Math.max(budget, used, 1)) * 1_000
  const hidden = entries.filter(({ shown }) => shown !== 'whole')
  let x = width(reserved)
  return (
    <section aria-label="Listing">
      <h2>Listing</h2>
      <p className="lead">
        {used.toLocaleString('en-US')} of {budget.toLocaleString('en-US')} characters that the model sees of
        all descriptions{reserved > 0 && `, ${reserved.toLocaleString('en-US')} of them by the agent itself`}
        {hidden.length > 0 && `. ${count(hidden.length, 'description')} cut or dropped`}.
      </p>
      <svg
        className="listing"
        viewBox="0 0 1000 20"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${Math.round((used / Math.max(1, budget)) * 100)}% of the listing is used`}
      >
        <rect x="0" y="0" width={width(budget)} height="20" className="rate-track" />
        <rect x="0" y="0" width={width(reserved)} height="20" className="l-reserved">
          <title>{`the agent itself: ${reserved}`}</title>
        </rect>
        {entries.map(({ component, characters, shown }) => {
          const left = x
          x += width(characters)
          return (
            <rect
              key={component}
              x={left}
              y="0"
              width={Math.max(1, width(characters) - 1)}
              height="20"
              className={`l-${shown}`}
            >
              <title>{`${component}: ${characters}, ${shown}`}</title>
            </rect>
          )
        })}
      </svg>
      <details open={hidden.length > 0}>
        <summary>{count(entries.length, 'description')}</summary>
        <table className="list">
          <tbody>
            {entries.map(({ component, characters, shown }) => (
              <tr key={component}>
                <td>{component}</td>
                <td className="num">{characters.toLocaleString('en-US')}</td>
                <td className={shown === 'whole' ? undefined : 'removed'}>{shown}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}

function Findings({ answer: { findings, plugin_path: root } }: { readonly answer: PluginAnswer }) {
  if (findings.length === 0) return null
  return (
    <section aria-label="Findings in the files">
      <h2>Findings in the files</h2>
      <p className="note">{root}</p>
      <ul className="advice">
        {findings.map(({ code, severity, message, suggestion, path, line }, at) => (
          <li key={at}>
            <Verdict value={severity} /> <strong>{code}</strong>{' '}
            {path !== undefined && (
              <code>
                {path}
                {line !== undefined && `:${line}`}
              </code>
            )}
            <p className="gate-message">{message}</p>
            <p className="note">{suggestion}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
