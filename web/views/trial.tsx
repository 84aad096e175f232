import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { call, useApi } from '../api/client.ts'
import type { Evidence, GuardMoment, Trial as TrialAnswer } from '../api/operations.ts'
import { useRunThere } from '../api/use-run-there.ts'
import { Copy, Verdict } from '../parts/badges.tsx'
import { Changes, FileLines } from '../parts/diff.tsx'
import { agentName, bytes, duration, time, usd } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { LabelTrial } from '../parts/label.tsx'
import { Answer, Empty, Problem } from '../parts/states.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { GuardDecisions, ModelCalls } from '../parts/trial-calls.tsx'
import { useWords } from '../parts/use-words.ts'

const pollMs = 2_000

/** One trial: what the agent was asked, what it did and changed, and what each gate rests on. */
export function Trial() {
  const { run, trial } = useParams({ strict: false }) as { readonly run: string; readonly trial: string }
  const query = useApi(
    'getTrial',
    { path: { run, trial } },
    {
      refetchInterval: ({ state }) => (state.data?.run.live && state.data.record === null ? pollMs : false),
    },
  )
  useRunThere(run, query.data === undefined || query.data.run.live)
  return (
    <Answer query={query} what="the trial">
      {(answer) => <TrialPage key={trial} answer={answer} />}
    </Answer>
  )
}

function TrialPage({ answer }: { readonly answer: TrialAnswer }) {
  const { run, trial_id: trial, record, prompt, neighbours, dir, command } = answer
  const who = record ?? answer.begun
  // The plan of a plugin run names only the trials that get a verdict.
  const isBaseline = who === null && answer.files.some(({ path }) => path === 'execution.json')
  const isOver = isBaseline || answer.begun?.is_over === true
  const navigate = useNavigate()
  const [words, change] = useWords()
  const at = words.at === undefined || !/^\d+$/.test(words.at) ? null : Number(words.at)
  const go = (to: string | null): void => {
    if (to !== null) void navigate({ to: '/runs/$run/$trial', params: { run: run.id, trial: to } } as never)
  }
  useKeys([
    { key: 'n', label: 'next trial', run: () => go(neighbours.next) },
    { key: 'p', label: 'previous trial', run: () => go(neighbours.previous) },
    {
      key: 'u',
      label: 'up to the run',
      run: () => void navigate({ to: '/runs/$run', params: { run: run.id } }),
    },
  ])
  const isLive = run.live && record === null
  const { data: evidence, refetch } = useApi(
    'trialEvidence',
    { path: { run: run.id, trial } },
    { refetchInterval: isLive ? 5 * pollMs : false },
  )
  // What came last in a live trial.
  const wasLive = useRef(isLive)
  useEffect(() => {
    if (wasLive.current && !isLive) void refetch()
    wasLive.current = isLive
  }, [isLive, refetch])
  const guard = useMemo(() => decisionsByCall(evidence), [evidence])
  return (
    <>
      <header className="head">
        <p className="crumbs">
          <Link to="/">Runs</Link> /{' '}
          <Link to="/runs/$run" params={{ run: run.id }}>
            {run.title === '' ? run.id : run.title}
          </Link>{' '}
          / {trial}
        </p>
        <h1>
          <Verdict value={record?.verdict ?? (isOver ? 'ended' : isLive ? 'running' : 'unknown')} />{' '}
          {who?.case ?? trial}
          {who !== null && (
            <small>
              {' '}
              {agentName(who)} #{who.attempt}
            </small>
          )}
        </h1>
        {record !== null && <p className="sentence">{record.reason}</p>}
        {record === null && answer.problem === null && (!isLive || isBaseline) && (
          <p className="sentence">
            {isBaseline
              ? 'The agent has ended. The arm without the plugin is a baseline: its trials get no verdict.'
              : isOver
                ? 'The agent has ended, but the run stopped before there was a verdict.'
                : 'This trial has not ended, so there is no verdict.'}
          </p>
        )}
        <p className="actions">
          <button
            type="button"
            disabled={neighbours.previous === null}
            onClick={() => go(neighbours.previous)}
          >
            ← previous
          </button>
          <button type="button" disabled={neighbours.next === null} onClick={() => go(neighbours.next)}>
            next →
          </button>
          {command !== '' && <Copy text={() => command} label="copy command" />}
          <Copy text={() => markdownOf(answer)} label="copy as Markdown" />
          <Copy text={() => dir} label="copy path" />
          <Beside answer={answer} />
        </p>
      </header>
      {answer.problem !== null && <Problem error={answer.problem} />}
      <LabelTrial answer={answer} />
      {prompt !== null && (
        <details className="prompt" open={prompt.length < 600}>
          <summary>Prompt</summary>
          <div className="event-text">{prompt}</div>
        </details>
      )}
      <div className="columns">
        <Timeline
          run={run.id}
          trial={trial}
          at={at}
          isLive={isLive}
          guard={guard}
          onChoose={(place) => change({ at: String(place) })}
        />
        <Panel answer={answer} evidence={evidence} words={words} change={change} />
      </div>
    </>
  )
}

/** A link to the same case with another verdict, where the first difference is marked. */
function Beside({ answer: { run, trial_id: trial, record } }: { readonly answer: TrialAnswer }) {
  const { data } = useApi(
    'listTrials',
    { path: { run: run.id }, query: { case: record?.case ?? '', limit: 100 } },
    { enabled: record !== null, staleTime: Number.POSITIVE_INFINITY },
  )
  const others = (data?.trials ?? []).filter(({ verdict }) => verdict !== record?.verdict)
  const other = others.find(({ agent }) => agent === record?.agent) ?? others[0]
  if (record === null || other === undefined) return null
  const sides = { a: `${run.id}/${other.trial_id}`, b: `${run.id}/${trial}` }
  return (
    <Link to={'/side-by-side' as never} search={sides as never}>
      beside {agentName(other)} #{other.attempt} ({other.verdict})
    </Link>
  )
}

/** Of several decisions about one call, the one that did not allow it. */
function decisionsByCall(evidence: Evidence | undefined): ReadonlyMap<string, GuardMoment> {
  const found = new Map<string, GuardMoment>()
  for (const { moments } of evidence?.guard ?? [])
    for (const moment of moments)
      if (moment.call_id !== null && (found.get(moment.call_id)?.verdict ?? 'pass') === 'pass')
        found.set(moment.call_id, moment)
  return found
}

function markdownOf({ record, trial_id, dir, command }: TrialAnswer): string {
  if (record === null) return trial_id
  return [
    `**${record.case}** (${agentName(record)} #${record.attempt}): ${record.verdict}. ${record.reason}`,
    '',
    ...record.gates.map((gate) => `- ${gate.passed ? '✓' : '✗'} ${gate.type}: ${gate.message}`),
    '',
    `Again: \`${command}\`  `,
    `Files: \`${dir}\``,
  ].join('\n')
}

const tabs = ['gates', 'changes', 'files', 'judge', 'model', 'guard', 'scenario', 'facts'] as const
type Tab = (typeof tabs)[number]

type Change = (words: Record<string, string | undefined>) => void

/** What is beside the timeline. */
function Panel({
  answer,
  evidence,
  words,
  change,
}: {
  readonly answer: TrialAnswer
  readonly evidence: Evidence | undefined
  readonly words: Readonly<Record<string, string | undefined>>
  readonly change: Change
}) {
  const { run, trial_id: trial, record, changes, more_changes: more } = answer
  const tab: Tab = tabs.find((name) => name === words.tab) ?? 'gates'
  useKeys([
    { key: 'g', label: 'gates', run: () => change({ tab: undefined }) },
    { key: 'd', label: 'changes of the workspace', run: () => change({ tab: 'changes' }) },
  ])
  const has: Partial<Record<Tab, boolean>> = {
    judge: record?.judge != null,
    scenario: answer.scenario !== null,
    model: (evidence?.model_calls.length ?? 0) > 0,
    guard: (evidence?.guard.length ?? 0) > 0,
  }
  const shown = tabs.filter((name) => name === tab || has[name] !== false)
  const line = Number(words.line ?? 0)
  const show = (at: number): void => change({ at: String(at) })
  return (
    <aside className="panel" aria-label="Evidence">
      <div className="tabs" role="tablist">
        {shown.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === tab}
            aria-controls="panel"
            onClick={() => change({ tab: name === 'gates' ? undefined : name })}
          >
            {name}
            {name === 'changes' && changes.length > 0 && ` ${changes.length}${more === 0 ? '' : '+'}`}
            {name === 'model' && ` ${evidence?.model_calls.length ?? ''}`}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'gates' && <Gates answer={answer} evidence={evidence} change={change} />}
        {tab === 'changes' && (
          <Changes run={run.id} trial={trial} changes={changes} more={more} open={words.file} />
        )}
        {tab === 'files' && <Files answer={answer} path={words.file} line={line} change={change} />}
        {tab === 'judge' && <Judge answer={answer} change={change} />}
        {tab === 'model' && <ModelCalls calls={evidence?.model_calls ?? []} onShow={show} />}
        {tab === 'guard' && <GuardDecisions guard={evidence?.guard ?? []} onShow={show} />}
        {tab === 'scenario' && <Scenario answer={answer} line={line} />}
        {tab === 'facts' && <Facts answer={answer} />}
      </div>
    </aside>
  )
}

/** The gates, each with links to what it rests on. */
function Gates({
  answer,
  evidence,
  change,
}: {
  readonly answer: TrialAnswer
  readonly evidence: Evidence | undefined
  readonly change: Change
}) {
  const { record } = answer
  if (record === null) return <Empty title="Gates are checked when the agent has ended." />
  if (record.gates.length === 0) return <Empty title="This case has no gates." />
  return (
    <ol className="gates">
      {record.gates.map((gate, index) => (
        <li key={index} className={gate.passed ? 'passed' : 'failed'}>
          <p className="gate-head">
            <Verdict value={gate.passed ? 'pass' : 'fail'} short /> <strong>{gate.type}</strong>
          </p>
          <p className="gate-message">{gate.message}</p>
          <Places places={evidence?.gates[index] ?? []} answer={answer} change={change} />
          <Detail detail={gate.detail} isOpen={!gate.passed} />
        </li>
      ))}
    </ol>
  )
}

function Places({
  places,
  answer,
  change,
}: {
  readonly places: Evidence['gates'][number]
  readonly answer: TrialAnswer
  readonly change: Change
}) {
  if (places.length === 0) return null
  return (
    <ul className="places">
      {places.map((place) => {
        if (place.kind === 'event')
          return (
            <li key={`e${place.at}`}>
              <button type="button" className="quiet" onClick={() => change({ at: String(place.at) })}>
                → {place.text}
              </button>
            </li>
          )
        if (place.kind === 'scenario')
          return (
            <li key="s">
              {answer.scenario === null ? (
                // A plugin describes its components in its own files.
                <code>
                  {answer.record?.file}:{place.line}
                </code>
              ) : (
                <button
                  type="button"
                  className="quiet"
                  onClick={() => change({ tab: 'scenario', line: String(place.line) })}
                >
                  line {place.line} of the scenario
                </button>
              )}
            </li>
          )
        const isChanged = answer.changes.some(({ path }) => path === place.path)
        return (
          <li key={`f${place.path}`}>
            <button
              type="button"
              className="quiet"
              onClick={() =>
                change(
                  isChanged
                    ? { tab: 'changes', file: place.path }
                    : { tab: 'files', file: `fixture/${place.path}`, line: String(place.line ?? 1) },
                )
              }
            >
              {place.path}
              {place.line !== null && `:${place.line}`}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function Detail({
  detail,
  isOpen,
}: {
  readonly detail: Readonly<Record<string, unknown>>
  readonly isOpen: boolean
}) {
  const entries = Object.entries(detail)
  if (entries.length === 0) return null
  return (
    <details open={isOpen}>
      <summary>details</summary>
      <dl className="detail">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="event-text">
              {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function Files({
  answer,
  path,
  line,
  change,
}: {
  readonly answer: TrialAnswer
  readonly path: string | undefined
  readonly line: number
  readonly change: Change
}) {
  const { run, trial_id: trial, files } = answer
  const isKnown = path !== undefined && files.some((file) => file.path === path)
  const query = useApi(
    'trialFile',
    { path: { run: run.id, trial }, query: { path: path ?? '' } },
    { enabled: isKnown },
  )
  return (
    <>
      {isKnown && (
        <section className="file-text" aria-label={path}>
          <p>
            <code>{path}</code>{' '}
            <button type="button" className="quiet" onClick={() => change({ file: undefined })}>
              close
            </button>
          </p>
          <Answer query={query} what={path}>
            {(text) => <FileLines text={text} path={path} mark={line} />}
          </Answer>
        </section>
      )}
      <ul className="files">
        {files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              className="quiet"
              onClick={() => change({ tab: 'files', file: file.path, line: undefined })}
            >
              {file.path}
            </button>{' '}
            <small>{bytes(file.bytes)}</small>
          </li>
        ))}
      </ul>
    </>
  )
}

function Judge({ answer, change }: { readonly answer: TrialAnswer; readonly change: Change }) {
  const judge = answer.record?.judge
  if (judge == null) return <Empty title="No judge was asked." />
  const lists = [
    ['Issues', judge.issues],
    ['Highlights', judge.highlights],
  ] as const
  return (
    <>
      <p>
        <Verdict value={judge.passed ? 'pass' : 'fail'} /> {judge.weighted_score.toFixed(2)} of at least{' '}
        {judge.threshold} by {judge.model}
        {judge.agreement !== null &&
          `, ${judge.samples.length} samples agree to ${Math.round(judge.agreement * 100)}%`}
      </p>
      <dl className="detail">
        {Object.entries(judge.scores).map(([name, score]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <meter min={0} max={1} value={score} aria-label={name} /> {score.toFixed(2)}
              <ul className="places">
                {(judge.quotes ?? [])
                  .filter(({ criterion }) => criterion === name)
                  .map((quote) => (
                    <li key={quote.text}>
                      <Quote quote={quote} answer={answer} change={change} />
                    </li>
                  ))}
              </ul>
            </dd>
          </div>
        ))}
      </dl>
      {lists.map(([title, texts]) =>
        texts.length === 0 ? null : (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <ul>
              {texts.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </section>
        ),
      )}
    </>
  )
}

type JudgeQuote = NonNullable<NonNullable<NonNullable<TrialAnswer['record']>['judge']>['quotes']>[number]

/** What a score rests on. It leads to the changed file or to the event that has the text. */
function Quote({
  quote: { text, file },
  answer: { run, trial_id: trial, changes },
  change,
}: {
  readonly quote: JudgeQuote
  readonly answer: TrialAnswer
  readonly change: Change
}) {
  const [isMissing, setMissing] = useState(false)
  const find = async (): Promise<void> => {
    const lines = text.split('\n').map((line) => line.replace(/^\| /, '').trim())
    const longest = lines.toSorted((a, b) => b.length - a.length)[0] ?? ''
    const query = { text: longest.slice(0, 200), from: 0 }
    const { hits } = await call('searchTrial', { path: { run: run.id, trial }, query })
    const [hit] = hits
    if (hit === undefined) setMissing(true)
    else change({ at: String(hit.at) })
  }
  const isChanged = file !== undefined && changes.some(({ path }) => path === file)
  return (
    <>
      <button
        type="button"
        className="quiet"
        onClick={() => (isChanged ? change({ tab: 'changes', file }) : void find())}
      >
        “{text}”
      </button>
      {file !== undefined && <small> {file}</small>}
      {isMissing && <small> not in the event log: it is from the task or the checks</small>}
    </>
  )
}

function Scenario({ answer: { scenario }, line }: { readonly answer: TrialAnswer; readonly line: number }) {
  if (scenario === null) return <Empty title="The scenario of this run was not kept." />
  return (
    <>
      <p>
        <code>{scenario.file}</code> as it was when the run began
      </p>
      <FileLines text={scenario.text} path={scenario.file} mark={line} />
    </>
  )
}

function Facts({ answer: { record, environment, dir, log_bytes } }: { readonly answer: TrialAnswer }) {
  const facts: Record<string, unknown> = {
    ...(record !== null && {
      started: time(record.startedAt),
      time: duration(record.durationMs),
      cost: record.costUsd === null ? 'unmetered' : usd(record.costUsd),
      tokens: record.tokens,
      'use of the tool': record.metrics,
      ending: record.ending,
      'exit code of the agent': record.agentExitCode,
      score: record.score,
      evaluators: record.evaluators.length === 0 ? undefined : record.evaluators,
      warnings: record.warnings.length === 0 ? undefined : record.warnings,
      'made by': record.cachedFrom ?? undefined,
    }),
    log: bytes(log_bytes),
    directory: dir,
    ...environment,
  }
  return (
    <dl className="detail">
      {Object.entries(facts).map(([name, value]) =>
        value === undefined || value === null || name === 'prompt' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="event-text">
              {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}
