import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useApi } from '../api/client.ts'
import type { Run } from '../api/operations.ts'
import { Verdict } from './badges.tsx'
import { bytes, duration } from './format.ts'
import { RunFile } from './run-file.tsx'

type Details = Readonly<Record<string, unknown>>

/** Kinds of runs that have steps, attempts and files instead of cases and trials. */
export const workKinds: readonly string[] = ['verify', 'task']

/** What a verification or a task did: steps with their verdicts and logs, attempts, and the files it left. */
export function WorkRun({ answer }: { readonly answer: Run }) {
  const { row, manifest, files } = answer
  if (manifest === null) return <Files run={row.id} files={files} />
  const used = new Set(manifest.commands_executed.map((_, index) => logOf(answer, index)))
  return (
    <>
      {row.kind === 'task' && <Task details={manifest.details} />}
      <Reason details={manifest.details} />
      {row.kind === 'verify' && <Steps answer={answer} />}
      {row.kind === 'task' && <Attempts runs={manifest.refers_to} />}
      <Sandbox details={manifest.details} />
      <Files run={row.id} files={files.filter(({ path }) => !used.has(path))} />
    </>
  )
}

function Task({ details }: { readonly details: Details }) {
  const { task_id: id, description, repository } = details
  return (
    <section aria-label="Task">
      <h2>Task</h2>
      {typeof description === 'string' && <div className="event-text">{description}</div>}
      <p className="note">
        {typeof repository === 'string' && (
          <>
            in <code>{repository}</code>{' '}
          </>
        )}
        {typeof id === 'string' && (
          <Link to={'/tasks/$task' as never} params={{ task: id } as never}>
            Open the task: what happened, its change and its report
          </Link>
        )}
      </p>
    </section>
  )
}

/** Why it ended as it did, where the verdict alone does not say it. */
function Reason({ details }: { readonly details: Details }) {
  const reasons = [details.reason, details.fake_green, details.error_message, details.weakened]
    .flat()
    .filter((reason) => typeof reason === 'string' && reason !== '')
  const isChanged = details.tree_unchanged === false
  if (reasons.length === 0 && !isChanged) return null
  return (
    <section aria-label="Reason">
      <h2>Reason</h2>
      <ul>
        {reasons.map((reason) => (
          <li key={String(reason)}>{String(reason)}</li>
        ))}
        {isChanged && <li>The repository changed while the steps ran, so the result does not count.</li>}
      </ul>
    </section>
  )
}

/** The log of a step. Its name begins with its number. */
function logOf({ files }: Run, index: number): string | null {
  const begin = `logs/step-${String(index + 1).padStart(2, '0')}-`
  return files.find(({ path }) => path.startsWith(begin))?.path ?? null
}

function Steps({ answer }: { readonly answer: Run }) {
  const { row, manifest } = answer
  const steps = manifest?.commands_executed ?? []
  if (steps.length === 0)
    return <p className="note">{row.live ? 'The steps are running.' : 'No step was run.'}</p>
  return (
    <section aria-label="Steps">
      <h2>Steps</h2>
      <ol className="steps">
        {steps.map(({ name, command, exit_code: code, duration_ms: ms }, index) => {
          const log = logOf(answer, index)
          const isGood = code === 0
          return (
            <li key={index}>
              <p className="step-head">
                <Verdict value={isGood ? 'pass' : 'fail'} /> <strong>{name}</strong>{' '}
                <small>
                  {code === null ? 'no exit code' : `exit ${code}`}, {duration(ms)}
                </small>
              </p>
              <pre className="event-text">{command}</pre>
              {log !== null && <File run={row.id} path={log} name="log" isOpenAtFirst={!isGood} />}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** The verifications that a task rests on. */
function Attempts({ runs }: { readonly runs: readonly string[] }) {
  const { data } = useApi('listRuns', { query: { kind: 'verify', limit: 1_000 } })
  if (runs.length === 0) return null
  return (
    <section aria-label="Verifications">
      <h2>Verifications</h2>
      <ol className="steps">
        {runs.map((id) => {
          const row = data?.runs.find((one) => one.id === id)
          return (
            <li key={id}>
              {row !== undefined && <Verdict value={row.status} />}{' '}
              <Link to="/runs/$run" params={{ run: id }}>
                {id}
              </Link>{' '}
              <small>
                {row === undefined ? data !== undefined && 'deleted' : duration(row.totals?.duration_ms)}
              </small>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function Sandbox({ details }: { readonly details: Details }) {
  const { engine, engine_version, image, network, workspace, user, shortfalls } = (details.sandbox ??
    {}) as Details
  if (typeof engine !== 'string') return null
  const facts: readonly (readonly [string, unknown])[] = [
    ['engine', [engine, engine_version].join(' ')],
    ['image', image],
    ['workspace', workspace],
    ['network', network],
    ['user', user],
    ['not applied', Array.isArray(shortfalls) ? shortfalls.join('; ') : ''],
  ]
  return (
    <section aria-label="Sandbox">
      <h2>Sandbox</h2>
      <dl className="detail">
        {facts
          .filter(([, value]) => typeof value === 'string' && value.trim() !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
      </dl>
    </section>
  )
}

export function Files({ run, files }: { readonly run: string; readonly files: Run['files'] }) {
  const groups = Map.groupBy(files, ({ path }) =>
    /^(?:logs|reports)\//.test(path) || path === 'events.jsonl' ? 'Logs and reports' : 'Artifacts',
  )
  return [...groups].toSorted().map(([title, ofGroup]) => (
    <section key={title} aria-label={title}>
      <h2>{title}</h2>
      {ofGroup.map(({ path, bytes: size }) => (
        <File key={path} run={run} path={path} name={path} size={size} />
      ))}
    </section>
  ))
}

function File({
  run,
  path,
  name,
  size,
  isOpenAtFirst = false,
}: {
  readonly run: string
  readonly path: string
  readonly name: string
  readonly size?: number
  readonly isOpenAtFirst?: boolean
}) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <details
      className="file"
      open={isOpenAtFirst}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <code>{name}</code> {size !== undefined && <small>{bytes(size)}</small>}
      </summary>
      {isOpen && <RunFile run={run} path={path} />}
    </details>
  )
}
