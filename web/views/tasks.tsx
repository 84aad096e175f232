import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, useApi } from '../api/client.ts'
import type { NewTask, Task } from '../api/operations.ts'
import { Copy, markdownTable, Verdict } from '../parts/badges.tsx'
import { Choice, Search } from '../parts/fields.tsx'
import { count, duration, time, usd } from '../parts/format.ts'
import { useKeys } from '../parts/keys.tsx'
import { Answer, Empty, Problem } from '../parts/states.tsx'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'

const columns = [
  ['Queued', ['QUEUED'], 'Nothing waits.'],
  ['Running', ['RUNNING'], 'Nothing runs.'],
  ['Done', ['SUCCESS', 'NO_CHANGE', 'CANCELLED'], 'Nothing is done yet.'],
  ['Stuck', ['STUCK', 'WEAKENED', 'INFRA_ERROR'], 'Nothing is stuck.'],
] as const

const listMax = 1_000
/** Of ended tasks, in a column. */
const shownAtFirst = 30

/** All tasks: queued, running, done, stuck, by repository. */
export function Tasks() {
  const [words, change] = useWords()
  const about = useApi('about', {}, { staleTime: 60_000 })
  const list = useApi(
    'listTasks',
    { query: { limit: listMax } },
    { refetchInterval: ({ state }) => (state.data?.tasks.some(isOpen) ? 2_000 : 10_000) },
  )
  const repositories = [...new Set(list.data?.tasks.map(({ repository }) => repository))].sort()
  const text = words.text?.toLowerCase()
  const wanted = (list.data?.tasks ?? []).filter(
    (task) =>
      (words.repository === undefined || task.repository === words.repository) &&
      (text === undefined || `${task.id}\n${task.description}`.toLowerCase().includes(text)),
  )
  const groups = [...Map.groupBy(wanted, ({ repository }) => repository)].sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    <>
      <h1>Tasks</h1>
      {about.data?.tasks === true && <Submit />}
      <div className="filters">
        <Search label="Search" value={words.text} onChange={(value) => change({ text: value })} />
        <Choice
          label="Repository"
          value={words.repository}
          options={repositories}
          onChange={(value) => change({ repository: value })}
        />
      </div>
      <Answer query={list} what="tasks">
        {({ tasks }) =>
          tasks.length === 0 ? (
            <NoTasks canSubmit={about.data?.tasks === true} />
          ) : wanted.length === 0 ? (
            <Empty title="No task fits these filters." />
          ) : (
            <>
              <Boards groups={groups} />
              {tasks.length === listMax && (
                <p className="note">
                  Only the newest {listMax.toLocaleString('en-US')} tasks are shown. Others:{' '}
                  <code>gantry task history</code>
                </p>
              )}
            </>
          )
        }
      </Answer>
    </>
  )
}

export function isOpen({ state }: Task): boolean {
  return state === 'QUEUED' || state === 'RUNNING'
}

function NoTasks({ canSubmit }: { readonly canSubmit: boolean }) {
  return (
    <Empty title="There are no tasks yet.">
      {canSubmit ? (
        <p>Submit one above.</p>
      ) : (
        <p>
          <code>gantry task run "Fix the failing test"</code> does one in a repository.{' '}
          <code>gantry serve</code> serves this page with a form to submit tasks.
        </p>
      )}
    </Empty>
  )
}

function Boards({ groups }: { readonly groups: readonly (readonly [string, readonly Task[]])[] }) {
  const navigate = useNavigate()
  const [isAll, setAll] = useState(false)
  const boards = groups.map(([repository, tasks]) => {
    const lists = columns.map(([name, states, nothing]) => {
      const found = tasks.filter(({ state }) => (states as readonly string[]).includes(state))
      return { name, nothing, found, shown: isAll ? found : found.slice(0, shownAtFirst) }
    })
    return { repository, lists }
  })
  const flat = boards.flatMap(({ lists }) => lists.flatMap(({ shown }) => shown))
  const [chosen] = useRowKeys(
    flat.length,
    (index) => void navigate({ to: '/tasks/$task', params: { task: flat[index]?.id ?? '' } } as never),
    (index) => document.getElementById(flat[index]?.id ?? '')?.scrollIntoView({ block: 'nearest' }),
    'task',
  )
  return (
    <>
      {boards.map(({ repository, lists }) => (
        <section key={repository} aria-label={repository}>
          <h2 title={repository}>
            {repository.split('/').at(-1)} <small>{repository}</small>
          </h2>
          <div className="board">
            {lists.map(({ name, nothing, found, shown }) => (
              <section key={name} className={`lane lane-${name.toLowerCase()}`} aria-label={name}>
                <h3>
                  {name} <small>{found.length}</small>
                </h3>
                {found.length === 0 && <p className="note">{nothing}</p>}
                <ul>
                  {shown.map((task) => (
                    <Card key={task.id} task={task} isChosen={flat[chosen]?.id === task.id} />
                  ))}
                </ul>
                {found.length > shown.length && (
                  <button type="button" onClick={() => setAll(true)}>
                    Show {found.length - shown.length} more
                  </button>
                )}
              </section>
            ))}
          </div>
        </section>
      ))}
      <p className="actions">
        <Copy text={() => boardMarkdown(groups)} label="copy as Markdown" />
      </p>
    </>
  )
}

function boardMarkdown(groups: readonly (readonly [string, readonly Task[]])[]): string {
  return markdownTable(
    ['Repository', 'Task', 'State', 'Attempts', 'Id'],
    groups.flatMap(([repository, tasks]) =>
      tasks.map((task) => [
        repository,
        task.description.split('\n', 1)[0] ?? '',
        stateName(task),
        String(task.current_attempt),
        task.id,
      ]),
    ),
  )
}

function Card({ task, isChosen }: { readonly task: Task; readonly isChosen: boolean }) {
  const { id, description, state, position, abandoned, current_attempt: attempt, phase } = task
  const cost = task.metrics?.cost_usd
  return (
    <li id={id} className={`card${isChosen ? ' chosen' : ''}`}>
      <Link to={'/tasks/$task' as never} params={{ task: id } as never}>
        {description.split('\n', 1)[0]?.slice(0, 160)}
      </Link>
      <p className="card-facts">
        <Verdict value={stateName(task)} />
        {task.dry_run && state !== 'SUCCESS' && <span>dry run</span>}
        {position !== null && <span>number {position} in the queue</span>}
        {state === 'RUNNING' && phase !== null && <span>{phase.toLowerCase()}</span>}
        {attempt > 0 && <span>{count(attempt, 'attempt')}</span>}
        {typeof cost === 'number' && <span>{usd(cost)}</span>}
        {task.completed_at !== null && task.started_at !== null && (
          <span>{duration(Date.parse(task.completed_at) - Date.parse(task.started_at))}</span>
        )}
        <span>{time(task.completed_at ?? task.started_at ?? task.created_at)}</span>
      </p>
      {abandoned && <p className="note">Its worker died. The next worker goes on with it.</p>}
      {task.error_message !== null && !isOpen(task) && (
        <p className="card-reason">{task.error_message.split('\n', 1)[0]}</p>
      )}
    </li>
  )
}

/** The state as a verdict has it. */
export function stateName({
  state,
  abandoned,
  dry_run,
}: Pick<Task, 'state' | 'abandoned' | 'dry_run'>): string {
  if (abandoned) return 'interrupted'
  // A proposal is made whether or not it passes its verification.
  if (state === 'SUCCESS' && dry_run) return 'proposed'
  return state.toLowerCase().replaceAll('_', ' ')
}

type Draft = { -readonly [Key in keyof NewTask]?: NewTask[Key] | undefined }

/** A form for a new task. */
function Submit() {
  const { data } = useApi('repositories', {}, { staleTime: 60_000 })
  const repositories = data?.repositories ?? []
  const [draft, setDraft] = useState<Draft>({})
  const [error, setError] = useState<unknown>(null)
  const [isSent, setSent] = useState(false)
  const navigate = useNavigate()
  const queries = useQueryClient()
  useKeys([{ key: 'c', label: 'write a task', run: () => document.getElementById('new-task')?.focus() }])
  const set = (change: Draft): void => setDraft({ ...draft, ...change })
  const send = async (): Promise<void> => {
    setSent(true)
    setError(null)
    try {
      const repository = draft.repository ?? repositories[0] ?? ''
      const task = await call('submitTask', { body: { ...draft, repository } as NewTask })
      void queries.invalidateQueries({ queryKey: ['listTasks'] })
      void navigate({ to: '/tasks/$task', params: { task: task.id } } as never)
    } catch (problem) {
      setError(problem)
    }
    setSent(false)
  }
  return (
    <form
      className="new-task"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <label className="field grow">
        <span>New task</span>
        <textarea
          id="new-task"
          rows={3}
          required
          placeholder="What to do. One task, with what must stay as it is."
          value={draft.description ?? ''}
          onChange={({ target }) => set({ description: target.value })}
        />
      </label>
      <div className="filters">
        {repositories.length > 1 && (
          <label className="field">
            <span>Repository</span>
            <select
              value={draft.repository ?? repositories[0]}
              onChange={({ target }) => set({ repository: target.value })}
            >
              {repositories.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          <input
            type="checkbox"
            checked={draft.dry_run === true}
            onChange={({ target }) => set({ dry_run: target.checked })}
          />{' '}
          only propose a change
        </label>
        <label>
          <input
            type="checkbox"
            checked={draft.apply === true}
            disabled={draft.dry_run === true}
            onChange={({ target }) => set({ apply: target.checked ? true : undefined })}
          />{' '}
          apply it when it is verified
        </label>
        <details>
          <summary>More</summary>
          <div className="filters">
            <Field label="Agent" value={draft.agent} onChange={(agent) => set({ agent })} />
            <Field label="Model" value={draft.model} onChange={(model) => set({ model })} />
            <Field
              label="At most USD"
              type="number"
              value={draft.max_cost_usd?.toString()}
              onChange={(usd) => set({ max_cost_usd: usd === undefined ? undefined : Number(usd) })}
            />
          </div>
        </details>
        <button type="submit" disabled={isSent}>
          {isSent ? 'Checking…' : 'Submit'}
        </button>
      </div>
      {error !== null && <Problem error={error} />}
    </form>
  )
}

function Field({
  label,
  value,
  type = 'text',
  onChange,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly type?: string
  readonly onChange: (value: string | undefined) => void
}) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type={type}
        step="any"
        min={0}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      />
    </label>
  )
}
