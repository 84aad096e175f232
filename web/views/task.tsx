import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { call, useApi } from '../api/client.ts'
import type { Diagnosis, Task as TaskRecord } from '../api/operations.ts'
import { useTaskFeed } from '../api/use-task-feed.ts'
import { Copy, Verdict } from '../parts/badges.tsx'
import { Diff } from '../parts/diff.tsx'
import { EventList } from '../parts/event-list.tsx'
import { duration, time, usd } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { RunFile } from '../parts/run-file.tsx'
import { Answer, Empty, Problem } from '../parts/states.tsx'
import { openQuestion, taskRows } from '../parts/task-events.ts'
import { useWords } from '../parts/use-words.ts'
import { isOpen, stateName } from './tasks.tsx'

const pollMs = 3_000
const quietKinds = ['output of steps', 'usage', 'note', 'harness']

/** One task: what it did, every attempt, its change and its report. */
export function Task() {
  const { task } = useParams({ strict: false }) as { readonly task: string }
  const query = useApi(
    'getTask',
    { path: { id: task } },
    { refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? pollMs : false) },
  )
  return (
    <Answer query={query} what="the task">
      {(record) => <TaskPage key={task} task={record} />}
    </Answer>
  )
}

function TaskPage({ task }: { readonly task: TaskRecord }) {
  const [words, change] = useWords()
  const navigate = useNavigate()
  const about = useApi('about', {}, { staleTime: 60_000 })
  /** The stream of a task that has ended is opened again after an action. */
  const [actions, setActions] = useState(0)
  const events = useTaskFeed(task.id, actions)
  const fate = events.findLast((event) => event.kind === 'change')?.what
  const rows = useMemo(() => taskRows(events), [events])
  const question = isOpen(task) ? openQuestion(events) : null
  const canChange = about.data?.tasks === true
  const [title = '', ...more] = task.description.split('\n')
  useKeys([{ key: 'u', label: 'up to the tasks', run: () => void navigate({ to: '/tasks' } as never) }])
  return (
    <>
      <header className="head">
        <p className="crumbs">
          <Link to={'/tasks' as never}>Tasks</Link> / {task.repository} / {task.id}
        </p>
        <h1>
          <Verdict value={stateName(task)} /> {title}
        </h1>
        {more.join('').trim() !== '' && <p className="sentence">{more.join('\n').trim()}</p>}
        {task.error_message !== null && <p className="sentence">{task.error_message}</p>}
        {task.dry_run && task.state === 'SUCCESS' && <Proposal task={task.id} />}
        <Actions task={task} canChange={canChange} fate={fate} onDone={() => setActions(actions + 1)} />
      </header>
      {question !== null && (
        <div className="question" role="status">
          <p className="state-title">The Editor asks: {question.text}</p>
          <p className="note">It waits {duration(question.timeout_ms)} and then goes on without an answer.</p>
        </div>
      )}
      {canChange && isOpen(task) && <Tell task={task.id} isAnswer={question !== null} />}
      {!canChange && isOpen(task) && (
        <p className="note">
          To change it: <code>gantry task cancel {task.id}</code> or{' '}
          <code>gantry task tell {task.id} "…"</code>
        </p>
      )}
      <Facts task={task} />
      <div className="columns">
        <EventList
          events={rows}
          label="What happened"
          // A task has at least the event that it was queued.
          empty="Loading what happened…"
          hidden={quietKinds}
          isLive={isOpen(task)}
          chosen={words.at}
          onChoose={(at) => change({ at })}
        />
        <Panel task={task} tab={words.tab} onTab={(tab) => change({ tab })} />
      </div>
    </>
  )
}

/** The end of a dry run does not say whether the proposal is good. */
function Proposal({ task }: { readonly task: string }) {
  const last = useApi('taskDiagnosis', { path: { id: task } }).data?.attempts.at(-1)
  if (last === undefined) return null
  return (
    <p className="sentence">
      {last.status === 'PASS'
        ? 'The proposed change passed its verification. Your tree is as it was.'
        : 'The proposed change did not pass its verification. Your tree is as it was.'}
    </p>
  )
}

type ActName = 'cancelTask' | 'retryTask' | 'applyTask' | 'undoTask' | 'commitTask' | 'dropTask'

interface Act {
  readonly name: ActName
  readonly label: string
  /** Asked before it is done. */
  readonly question?: string
  readonly isDangerous?: boolean
}

/** What can be done with a task now. `fate` is what was last done with its change. */
function actsOf(task: TaskRecord, fate: string | undefined): readonly Act[] {
  if (isOpen(task)) {
    const question = 'Cancel this task? Partial changes stay.'
    return [{ name: 'cancelTask', label: 'cancel', question, isDangerous: true }]
  }
  if (task.state !== 'SUCCESS') return [{ name: 'retryTask', label: 'retry' }]
  if (task.options.here === true) return []
  if (task.dry_run) {
    const question = 'Write the proposed change into your tree and verify it?'
    return [{ name: 'applyTask', label: 'apply and verify', question }]
  }
  const undo = 'Take the change out of your tree again? Your other changes stay.'
  const apply = `Write the change into ${task.repository}? Your other changes stay.`
  const commit = 'Commit the change on a branch of its own? Your tree and your branch stay as they are.'
  const drop = 'Drop the change? The next cleaning may then remove the only copy of it.'
  return [
    fate === 'applied'
      ? { name: 'undoTask', label: 'undo', question: undo }
      : { name: 'applyTask', label: 'apply to your tree', question: apply },
    ...(fate === 'committed' ? [] : [{ name: 'commitTask', label: 'commit', question: commit } as const]),
    ...(fate === undefined || fate === 'undone'
      ? [{ name: 'dropTask', label: 'drop', question: drop, isDangerous: true } as const]
      : []),
  ]
}

const doneWords: Partial<Record<ActName, string>> = {
  applyTask: 'The change is in your tree now.',
  undoTask: 'The change is not in your tree any more.',
  dropTask: 'The change is dropped.',
}

function Actions({
  task,
  canChange,
  fate,
  onDone,
}: {
  readonly task: TaskRecord
  readonly canChange: boolean
  readonly fate: string | undefined
  readonly onDone: () => void
}) {
  const queries = useQueryClient()
  const about = useApi('about', {}, { staleTime: 60_000 })
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>(null)
  const [asked, setAsked] = useState<Act | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [done, setDone] = useState('')
  const act = async (name: ActName): Promise<void> => {
    setError(null)
    setAsked(null)
    setDone('')
    setBusy(true)
    try {
      const reply = await call(name, { path: { id: task.id } })
      await queries.invalidateQueries()
      if ('branch' in reply) setDone(`Committed on ${reply.branch} as ${reply.commit.slice(0, 10)}.`)
      else {
        const next = 'task' in reply ? reply.task.id : reply.id
        if (next === task.id) setDone(doneWords[name] ?? '')
        else void navigate({ to: '/tasks/$task', params: { task: next } } as never)
      }
      onDone()
    } catch (problem) {
      setError(problem)
    }
    setBusy(false)
  }
  const acts = actsOf(task, fate)
  const copied = acts.find(({ name }) => name === 'applyTask' || name === 'retryTask')?.name
  return (
    <>
      <p className="actions">
        {canChange &&
          asked === null &&
          acts.map((one) => (
            <button
              key={one.name}
              type="button"
              className={one.isDangerous === true ? 'danger' : undefined}
              disabled={isBusy}
              onClick={() => (one.question === undefined ? void act(one.name) : setAsked(one))}
            >
              {one.label}
            </button>
          ))}
        {asked !== null && (
          <>
            {asked.question}{' '}
            <button type="button" className="danger" onClick={() => void act(asked.name)}>
              {asked.label === 'cancel' ? 'cancel it' : `yes, ${asked.label}`}
            </button>
            <button type="button" onClick={() => setAsked(null)}>
              {asked.label === 'cancel' ? 'keep it' : 'no'}
            </button>
          </>
        )}
        {task.task_run_id !== null && (
          <Link className="button" to="/runs/$run" params={{ run: task.task_run_id }}>
            its run
          </Link>
        )}
        {!canChange && copied === 'applyTask' && (
          <Copy text={() => `gantry task apply ${task.id}`} label="copy the command that applies it" />
        )}
        {task.state === 'WEAKENED' && (
          <Copy text={() => `gantry task accept ${task.id}`} label="copy the command that accepts it" />
        )}
        {!canChange && copied === 'retryTask' && (
          <Copy text={() => `gantry task retry ${task.id}`} label="copy the command that tries it again" />
        )}
        <Copy text={() => markdownOf(task)} label="copy as Markdown" />
        {task.task_run_id !== null && about.data !== undefined && (
          <Copy text={() => `${about.data.store}/runs/${task.task_run_id}`} label="copy path" />
        )}
      </p>
      {done !== '' && <p role="status">{done}</p>}
      {error !== null && <Problem error={error} />}
    </>
  )
}

function markdownOf({ id, description, state, summary, error_message, repository }: TaskRecord): string {
  return [
    `**${description.split('\n', 1)[0]}** (${id}, ${repository}): ${state}`,
    ...(error_message === null ? [] : ['', error_message]),
    ...(summary === null ? [] : ['', summary]),
  ].join('\n')
}

/** A message to the Editor. */
function Tell({ task, isAnswer }: { readonly task: string; readonly isAnswer: boolean }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(null)
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault()
        setError(null)
        call('tellTask', { path: { id: task }, body: { text } }).then(() => setText(''), setError)
      }}
    >
      <label className="field grow">
        <span>{isAnswer ? 'Your answer' : 'A message to the Editor'}</span>
        <input required value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button type="submit">Send</button>
      {error !== null && <Problem error={error} />}
    </form>
  )
}

function Facts({ task }: { readonly task: TaskRecord }) {
  const { metrics, options, started_at, completed_at } = task
  const cost = metrics?.cost_usd
  const facts: readonly (readonly [string, string | null])[] = [
    ['Submitted', time(task.created_at)],
    ['Place in the queue', task.position === null ? null : String(task.position)],
    [
      'Time',
      started_at === null || completed_at === null
        ? null
        : duration(Date.parse(completed_at) - Date.parse(started_at)),
    ],
    ['Phase', isOpen(task) ? task.phase : null],
    ['Attempts', task.current_attempt === 0 ? null : String(task.current_attempt)],
    ['Cost', typeof cost === 'number' ? usd(cost) : null],
    ['Agent', typeof options.agent === 'string' ? options.agent : null],
    ['Model', typeof options.model === 'string' ? options.model : null],
    [
      'Changes files in',
      options.here === true ? 'your tree' : task.dry_run ? 'a copy, as a proposal' : 'a copy of its own',
    ],
  ]
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

const tabs = ['attempts', 'changes', 'report'] as const

function Panel({
  task,
  tab,
  onTab,
}: {
  readonly task: TaskRecord
  readonly tab: string | undefined
  readonly onTab: (tab: string | undefined) => void
}) {
  const shown = tabs.find((name) => name === tab) ?? 'attempts'
  useKeys([
    { key: 'a', label: 'attempts', run: () => onTab(undefined) },
    { key: 'd', label: 'changes', run: () => onTab('changes') },
    { key: 'r', label: 'report', run: () => onTab('report') },
  ])
  return (
    <aside className="panel" aria-label="Results">
      <div className="tabs" role="tablist">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === shown}
            aria-controls="panel"
            onClick={() => onTab(name === 'attempts' ? undefined : name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        {shown === 'attempts' && <Attempts task={task} />}
        {shown === 'changes' && <Changes task={task} />}
        {shown === 'report' && <Report task={task} />}
      </div>
    </aside>
  )
}

/** Every verification of the debug loop, with its failure and what was changed for it. */
function Attempts({ task }: { readonly task: TaskRecord }) {
  const query = useApi('taskDiagnosis', { path: { id: task.id } })
  return (
    <Answer query={query} what="attempts">
      {({ attempts, replans }) =>
        attempts.length === 0 ? (
          <Empty title={isOpen(task) ? 'Nothing was verified yet.' : 'Nothing was verified.'} />
        ) : (
          <ol className="gates">
            {attempts.map((attempt, at) => (
              <Attempt
                key={attempt.attempt}
                task={task.id}
                attempt={attempt}
                strategy={
                  replans.find(
                    (one) => one.attempt < attempt.attempt && one.attempt >= (attempts[at - 1]?.attempt ?? 0),
                  )?.strategy ?? null
                }
              />
            ))}
          </ol>
        )
      }
    </Answer>
  )
}

function Attempt({
  task,
  attempt,
  strategy,
}: {
  readonly task: string
  readonly attempt: Diagnosis['attempts'][number]
  readonly strategy: string | null
}) {
  const { attempt: number, status, run_id, failure, diagnosis, files, duration_ms } = attempt
  const [isShown, setShown] = useState(false)
  const changed = files.filter((file) => file.changed)
  const isGreen = status === 'PASS'
  return (
    <li className={isGreen ? 'passed' : 'failed'}>
      {strategy !== null && <p className="replan">New strategy: {strategy}</p>}
      <p className="gate-head">
        <Verdict value={isGreen ? 'pass' : status === 'FAIL' ? 'fail' : 'infra'} short />{' '}
        <strong>Attempt {number}</strong> <small>{duration(duration_ms)}</small>
      </p>
      {failure !== null && <p className="gate-message">{failure}</p>}
      {diagnosis !== null && (
        <details open>
          <summary>diagnosis</summary>
          <div className="event-text">{diagnosis}</div>
        </details>
      )}
      <details onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
        <summary>
          {changed.length === 0 ? 'changed nothing' : `changed ${changed.map(({ path }) => path).join(', ')}`}
        </summary>
        {isShown && <AttemptDiff task={task} attempt={number} wanted={changed.map(({ path }) => path)} />}
      </details>
      {run_id !== null && <Logs run={run_id} />}
    </li>
  )
}

function AttemptDiff({
  task,
  attempt,
  wanted,
}: {
  readonly task: string
  readonly attempt: number
  readonly wanted: readonly string[]
}) {
  const query = useApi('taskDiff', { path: { id: task }, query: { attempt } })
  return (
    <Answer query={query} what="the changes">
      {(text) => <Diff text={text} wanted={wanted} />}
    </Answer>
  )
}

/** What the steps of a verification printed. */
function Logs({ run }: { readonly run: string }) {
  const [isShown, setShown] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>log</summary>
      {isShown && (
        <>
          <RunFile run={run} path="logs/combined.log" />
          <Link to="/runs/$run" params={{ run }}>
            {run}
          </Link>
        </>
      )}
    </details>
  )
}

function Changes({ task }: { readonly task: TaskRecord }) {
  const query = useApi('taskDiff', { path: { id: task.id } })
  if (query.error?.status === 404)
    return <Empty title={isOpen(task) ? 'Nothing is changed yet.' : 'Nothing was changed.'} />
  return (
    <Answer query={query} what="the changes">
      {(text) => <Diff text={text} />}
    </Answer>
  )
}

function Report({ task }: { readonly task: TaskRecord }) {
  const query = useApi('taskReport', { path: { id: task.id } }, { enabled: !isOpen(task) })
  if (isOpen(task)) return <Empty title="The report is written when the task has ended." />
  if (query.error?.status === 404) return <Empty title={`A task that is ${stateName(task)} has no report.`} />
  return (
    <Answer query={query} what="the report">
      {(text) => (
        <>
          <Copy text={() => text} label="copy" />
          <div className="event-text">{text}</div>
        </>
      )}
    </Answer>
  )
}
