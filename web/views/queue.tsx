import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../api/client.ts'
import type { QueueStatus } from '../api/operations.ts'
import { CopyTable } from '../parts/badges.tsx'
import { duration, time, usd } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'

const pollMs = 2_000
const states = ['queued', 'running', 'done', 'not_run'] as const

/** Trials and tasks for many machines: who works, how much is left, and what waits for what. */
export function Queue() {
  const query = useApi(
    'getQueue',
    {},
    // A database that is away comes back. A server without a queue does not get one.
    { refetchInterval: ({ state }) => (state.error?.status === 404 ? false : pollMs) },
  )
  if (query.error?.status === 404)
    return (
      <>
        <h1>Queue</h1>
        <Empty title="This page shows no queue.">
          <p>
            Start it with one: <code>gantry view --queue postgres://user@host/database</code>, or set{' '}
            <code>GANTRY_QUEUE</code>.
          </p>
        </Empty>
      </>
    )
  return (
    <>
      <h1>Queue</h1>
      <Answer query={query} what="the queue">
        {(status) => (
          <>
            <p className="note">
              {/* Numbers stay on the page while the database does not answer. */}
              As of {time(new Date(query.dataUpdatedAt).toISOString(), true)}, asked every 2 seconds
            </p>
            <Depth status={status} />
            <Waits status={status} />
            <Workers status={status} />
            <Runs status={status} />
          </>
        )}
      </Answer>
    </>
  )
}

/** How many trials are in which state, and how fast they end. */
function Depth({ status: { counts, runs } }: { readonly status: QueueStatus }) {
  const of = (state: string): number =>
    counts.filter((one) => one.state === state).reduce((total, one) => total + one.count, 0)
  const rate = runs.filter(({ open }) => open > 0).reduce((total, run) => total + run.perMinute, 0)
  const facts: readonly (readonly [string, string])[] = [
    ...states.map((state) => [words(state), of(state).toLocaleString('en-US')] as const),
    ['Ended per minute', rate.toFixed(1)],
  ]
  return (
    <dl className="facts" aria-label="Depth">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Waits({ status: { waits, pauses } }: { readonly status: QueueStatus }) {
  const rows = [
    ...waits.map(({ run, count: trials, why }) => [run, trials.toLocaleString('en-US'), why] as const),
    // A pause of a group that has no trial now.
    ...pauses
      .filter(({ reason }) => !waits.some(({ why }) => why.endsWith(reason)))
      .map(
        ({ group, leftMs, reason }) =>
          [
            group === '*' ? 'all groups' : group,
            '–',
            `paused${leftMs === null ? '' : ` for ${duration(leftMs)}`}: ${reason}`,
          ] as const,
      ),
  ]
  return (
    <section aria-label="What waits">
      <h2>What waits for what</h2>
      {rows.length === 0 ? (
        <p className="note">Nothing waits for more than a free worker.</p>
      ) : (
        <Table head={['Run or group', 'Trials', 'Waits because']} rows={rows} />
      )}
    </section>
  )
}

function Workers({ status: { workers } }: { readonly status: QueueStatus }) {
  return (
    <section aria-label="Workers">
      <h2>Workers</h2>
      {workers.length === 0 ? (
        <Empty title="No worker is running.">
          <p>
            Start one on any machine: <code>gantry work --queue …</code>
          </p>
        </Empty>
      ) : (
        <Table
          head={['Worker', 'Works on', 'Agents', 'Labels', 'Memory', 'Gantry', 'Last heartbeat']}
          rows={workers.map((worker) => [
            worker.isDraining ? `${worker.id} (ends when it is done)` : worker.id,
            <Holds key="holds" worker={worker} />,
            canRun(worker),
            worker.labels.join(', '),
            `${worker.memoryMb.toLocaleString('en-US')} MB`,
            worker.gantry,
            `${duration(worker.seenMsAgo)} ago`,
          ])}
        />
      )}
    </section>
  )
}

/** How many of its places are taken, and by which trials. */
function Holds({ worker: { holds, slots } }: { readonly worker: QueueStatus['workers'][number] }) {
  return (
    <>
      {holds.length} of {slots}
      {holds.map(({ run, trial }) => (
        <div key={`${run} ${trial}`}>
          {isRun(run) ? (
            <Link to="/runs/$run/$trial" params={{ run, trial }}>
              {trial}
            </Link>
          ) : (
            <Named id={run} />
          )}
        </div>
      ))}
    </>
  )
}

function canRun({ agents, onlyAgents, refusals }: QueueStatus['workers'][number]): string {
  const known = Object.entries(agents)
    .filter(([name]) => onlyAgents.length === 0 || onlyAgents.includes(name))
    .map(([name, version]) => `${name} ${version ?? ''}`.trim())
  return [
    known.join(', '),
    onlyAgents.length === 0 ? '' : `only ${onlyAgents.join(', ')}`,
    ...Object.values(refusals).map((why) => `refuses: ${why}`),
  ]
    .filter((text) => text !== '')
    .join('\n')
}

function Runs({ status: { runs, counts } }: { readonly status: QueueStatus }) {
  if (runs.length === 0)
    return (
      <Empty title="The queue has no runs.">
        <p>
          Give it one: <code>gantry test --queue …</code>
        </p>
      </Empty>
    )
  const of = (id: string, state: string): number =>
    counts.filter(({ run, state: is }) => run === id && is === state).reduce((sum, one) => sum + one.count, 0)
  return (
    <section aria-label="Runs">
      <h2>Runs</h2>
      <Table
        head={['Run', ...states.map(words), 'Per minute', 'Time left', 'Spent', 'Budget']}
        rows={runs.map((run) => [
          run.id,
          ...states.map((state) => of(run.id, state).toLocaleString('en-US')),
          run.open === 0 ? '–' : run.perMinute.toFixed(1),
          run.open === 0
            ? 'ended'
            : run.leftMs === null
              ? '–'
              : `about ${duration(Math.ceil(run.leftMs / 1_000) * 1_000)}`,
          `${usd(run.spentUsd)}${run.reservedUsd > 0 ? ` (${usd(run.reservedUsd)} reserved)` : ''}`,
          run.capUsd === null ? 'none' : usd(run.capUsd),
        ])}
      />
    </section>
  )
}

function words(state: string): string {
  return { queued: 'Queued', running: 'Running', done: 'Done', not_run: 'Not run' }[state] ?? state
}

function Table({
  head,
  rows,
}: {
  readonly head: readonly string[]
  /** The first cell names the row. */
  readonly rows: readonly (readonly [string, ...ReactNode[]])[]
}) {
  return (
    <>
      <div className="scroll-x" tabIndex={0} role="group" aria-label={head[0]}>
        <table className="list">
          <thead>
            <tr>
              {head.map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, index) => (
              <tr key={index}>
                {cells.map((cell, at) => (
                  <td key={head[at]} className="lines">
                    {at === 0 ? <Named id={cells[0]} /> : cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </>
  )
}

function isRun(id: string): boolean {
  return /^run_\w+$/.test(id)
}

/** A run or a task leads to its page. */
function Named({ id }: { readonly id: string }) {
  if (isRun(id))
    return (
      <Link to="/runs/$run" params={{ run: id }}>
        {id}
      </Link>
    )
  if (/^task_\w+$/.test(id))
    return (
      <Link to={'/tasks/$task' as never} params={{ task: id } as never}>
        {id}
      </Link>
    )
  return <>{id}</>
}
