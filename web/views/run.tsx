import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { exported, useApi } from '../api/client.ts'
import type { Operations, Run as RunAnswer } from '../api/operations.ts'
import { useRunFeed } from '../api/use-run-feed.ts'
import { useRunThere } from '../api/use-run-there.ts'
import { Copy, RateBar, Verdict } from '../parts/badges.tsx'
import { Chips, Choice, Search } from '../parts/fields.tsx'
import { agentName, duration, interval, percent, time, usd } from '../parts/format.ts'
import { Matrix } from '../parts/matrix.tsx'
import { PluginRun, shownByPlugin } from '../parts/plugin-run.tsx'
import { SearchRun } from '../parts/search-run.tsx'
import { Section } from '../parts/section.tsx'
import { Answer, Problem } from '../parts/states.tsx'
import { TrialTable } from '../parts/trial-table.tsx'
import { useWords } from '../parts/use-words.ts'
import { Files, WorkRun, workKinds } from '../parts/work-run.tsx'
import { RunActions } from './runs.tsx'

/** One run: its verdict, rates, cases by agents and trials. */
export function Run() {
  const { run } = useParams({ strict: false }) as { readonly run: string }
  const [isPaused, setPaused] = useState(false)
  const query = useApi('getRun', { path: { run } })
  const isLive = query.data?.row.live === true
  const isWork = workKinds.includes(query.data?.row.kind ?? '')
  useRunThere(run, query.data === undefined || isLive)
  const seen = useRunFeed(run, isLive ? (query.data?.position ?? 0) : null, isPaused)
  return (
    <Answer query={query} what="the run">
      {(answer) => (
        <>
          <Head answer={answer} />
          {isLive && (
            <p className="live" role="status">
              <span className="dot" /> Live{!isWork && seen > 0 && `: ${seen} trials ended while you watch`}{' '}
              <button type="button" onClick={() => setPaused(!isPaused)}>
                {isPaused ? 'Follow' : 'Pause'}
              </button>
            </p>
          )}
          {answer.problem !== null && <Problem error={answer.problem} />}
          <Facts answer={answer} />
          {answer.rates.length > 0 && <Rates answer={answer} />}
          {answer.row.kind === 'plugin' && <PluginRun run={run} />}
          {answer.cells.length > 0 && (
            <section aria-label="Cases">
              <h2>Cases</h2>
              <Matrix run={run} cells={answer.cells} />
            </section>
          )}
          {answer.sections
            .filter(({ title }) =>
              isWork ? title !== 'Commands' : answer.row.kind !== 'plugin' || !shownByPlugin.includes(title),
            )
            .map((section) => (
              <Section key={section.title} section={section} />
            ))}
          {!isWork && <Trials run={run} answer={answer} />}
          {isWork ? <WorkRun answer={answer} /> : <Files run={run} files={answer.files} />}
        </>
      )}
    </Answer>
  )
}

function Head({ answer }: { readonly answer: RunAnswer }) {
  const { row, command } = answer
  const sentence = sentenceOf(answer)
  const navigate = useNavigate()
  return (
    <header className="head">
      <p className="crumbs">
        <Link to="/">Runs</Link> / {row.id}
      </p>
      <h1>
        <Verdict value={row.live ? 'running' : row.status} /> {row.title === '' ? row.id : row.title}
      </h1>
      {sentence !== '' && <p className="sentence">{sentence}</p>}
      <p className="actions">
        {exported === null && <RunActions run={row} onDeleted={() => void navigate({ to: '/' })} />}
        {row.kind === 'scenario' && !row.live && (
          <Link className="button" to={'/compare' as never} search={{ sides: sidesOf(answer) } as never}>
            compare
          </Link>
        )}
        {command !== '' && <Copy text={() => command} label="copy command" />}
        <Copy text={() => markdownOf(answer)} label="copy as Markdown" />
        <Copy text={() => row.dir} label="copy path" />
      </p>
    </header>
  )
}

/** A task runs its commands in verifications, which are runs of their own. */
function sentenceOf({ row, sentence }: RunAnswer): string {
  return row.kind === 'task' ? '' : sentence
}

/** The arms that the run itself compared, with their base first; else the run. */
function sidesOf({ row, comparisons }: RunAnswer): string {
  const arms = [...new Set(comparisons.flatMap(({ before, after }) => [before.name, after.name]))]
  return arms.length < 2 ? row.id : arms.map((arm) => `${row.id}:${encodeURIComponent(arm)}`).join(',')
}

function markdownOf(answer: RunAnswer): string {
  const { row, manifest, rates, cells } = answer
  const lines = rates.map(
    (rate) => `| ${agentName(rate)} | ${percent(rate.passRate.value)} | ${interval(rate.passRate)} |`,
  )
  const failed = cells.filter(({ counts }) => counts.fail > 0)
  const head = `**${row.title}** (${row.id}): ${row.status}. ${sentenceOf(answer)}`.trim()
  if (workKinds.includes(row.kind)) {
    const steps = manifest?.commands_executed ?? []
    return [
      head,
      '',
      ...steps.map((step) => `- ${step.name}: exit ${step.exit_code}, \`${step.command}\``),
    ].join('\n')
  }
  return [
    head,
    '',
    '| agent | pass rate | 95% interval |',
    '|---|---|---|',
    ...lines,
    ...(failed.length === 0
      ? []
      : ['', 'Failed:', ...failed.map((cell) => `- ${cell.case} (${agentName(cell)})`)]),
  ].join('\n')
}

function Facts({ answer: { row, manifest, summary, planned, tokens } }: { readonly answer: RunAnswer }) {
  const { totals } = row
  const facts: readonly (readonly [string, string])[] = [
    ['Started', time(row.startedAt)],
    ['Time', duration(totals?.duration_ms)],
    ...(row.kind === 'verify'
      ? []
      : [['Cost', totals?.cost_usd == null ? 'unmetered' : usd(totals.cost_usd)] as const]),
    ...(tokens === null
      ? []
      : [
          [
            'Tokens',
            `${tokens.input.toLocaleString('en-US')} in, ${tokens.output.toLocaleString('en-US')} out`,
          ] as const,
        ]),
    ...(workKinds.includes(row.kind)
      ? []
      : [
          [
            'Trials',
            totals === null ? '–' : `${totals.trials}${planned > totals.trials ? ` of ${planned}` : ''}`,
          ] as const,
        ]),
    ...(totals !== null && totals.cached > 0 ? [['From the cache', String(totals.cached)] as const] : []),
    ...(summary?.flakeRate == null ? [] : [['Flaky cases', percent(summary.flakeRate)] as const]),
    ...(manifest === null || manifest.commit_sha === 'unknown'
      ? []
      : [
          [
            'Commit',
            `${manifest.commit_sha.slice(0, 10)}${manifest.dirty === true ? ' with changes' : ''}`,
          ] as const,
        ]),
    ...Object.entries(manifest?.versions.agents ?? {}).map(
      ([name, version]) => [`${name} version`, version] as const,
    ),
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

function Rates({ answer: { rates, summary } }: { readonly answer: RunAnswer }) {
  const regressions = summary?.regressions ?? []
  return (
    <section aria-label="Pass rates">
      <h2>Pass rates</h2>
      <div className="scroll-x" tabIndex={0}>
        <table className="rates">
          <tbody>
            {rates.map((rate) => (
              <tr key={agentName(rate)}>
                <th scope="row">{agentName(rate)}</th>
                <td>
                  <RateBar rate={rate.passRate} label={`${agentName(rate)} on these cases`} />
                </td>
                <td>
                  {rate.passRateForCasesLikeThese !== null && (
                    <small>for cases like these {interval(rate.passRateForCasesLikeThese)}</small>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {regressions.length > 0 && (
        <>
          <h3>Regressions</h3>
          <ul>
            {regressions.map((one) => (
              <li key={`${one.case} ${agentName(one)} ${one.message}`}>
                {one.case} ({agentName(one)}): {one.message}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const filters = [
  [undefined, 'all'],
  ['failures', 'failures'],
  ['errors', 'errors'],
  ['flaky', 'flaky'],
  ['different', 'different'],
] as const

function Trials({ run, answer }: { readonly run: string; readonly answer: RunAnswer }) {
  const [words, change] = useWords()
  const { only, case: name, agent, model, text, sort, descending } = words
  const query = {
    only,
    case: name,
    agent,
    model,
    text,
    sort,
    descending,
  } as Operations['listTrials']['query']
  const isFiltered = [only, name, agent, model, text].some(Boolean)
  const names = (key: 'case' | 'agent' | 'model'): string[] => [
    ...new Set([...answer.cells, ...answer.begun].map((cell) => cell[key])),
  ]
  const begun = useMemo(
    () =>
      answer.begun.filter(
        (trial) =>
          only === undefined &&
          [name ?? trial.case, agent ?? trial.agent, model ?? trial.model].join('\n') ===
            [trial.case, trial.agent, trial.model].join('\n') &&
          `${trial.trial_id}\n${trial.case}`.toLowerCase().includes((text ?? '').toLowerCase()),
      ),
    [answer.begun, only, name, agent, model, text],
  )
  if (answer.cells.length === 0 && !answer.row.live) return null
  return (
    <section aria-label="Trials" id="trials">
      <h2>Trials</h2>
      <div className="filters">
        <Chips
          label="Which trials"
          value={only}
          options={filters}
          onChange={(value) => change({ only: value })}
        />
        <Search label="Search" value={text} onChange={(value) => change({ text: value })} />
        <Choice
          label="Case"
          value={name}
          options={names('case')}
          onChange={(value) => change({ case: value })}
        />
        <Choice
          label="Agent"
          value={agent}
          options={names('agent')}
          onChange={(value) => change({ agent: value })}
        />
        <Choice
          label="Model"
          value={model}
          options={names('model')}
          onChange={(value) => change({ model: value })}
        />
      </div>
      <TrialTable
        run={run}
        query={query}
        begun={begun}
        none={answer.row.live && !isFiltered ? 'No trial has begun yet.' : 'No trial fits these filters.'}
        onSort={(key, isDown) => change({ sort: key, descending: isDown ? 'true' : undefined })}
      />
      <SearchRun run={run} text={words.find} onChange={(find) => change({ find })} />
    </section>
  )
}
