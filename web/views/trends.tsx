import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCost } from '../../src/report/quantity.ts'
import { useApi } from '../api/client.ts'
import type { Trend } from '../api/operations.ts'
import { CopyTable } from '../parts/badges.tsx'
import { Chips, Choice, Search } from '../parts/fields.tsx'
import { agentName, count, duration, interval, percent, time, usd } from '../parts/format.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Answer, Empty } from '../parts/states.tsx'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'

export type Point = Trend['points'][number]

const Chart = lazyPart(async () => (await import('../parts/chart.tsx')).Chart)

/** Pass rate, cost, time and flakiness over runs. */
export function Trends() {
  const [words, change] = useWords()
  const { case: name, agent, model } = words
  const query = useApi(
    'trends',
    { query: { case: name, agent, model } },
    { placeholderData: (before) => before },
  )
  return (
    <>
      <h1>Trends</h1>
      <Answer query={query} what="earlier runs">
        {({ cases, points }) => (
          <>
            <div className="filters">
              <Choice
                label="Case"
                value={name}
                options={cases}
                onChange={(value) => change({ case: value })}
              />
              <Choice
                label="Agent"
                value={agent}
                options={[...new Set(points.map((point) => point.agent))]}
                onChange={(value) => change({ agent: value })}
              />
              <Choice
                label="Model"
                value={model}
                options={[...new Set(points.map((point) => point.model))]}
                onChange={(value) => change({ model: value })}
              />
              <Search label="Search" value={words.text} onChange={(value) => change({ text: value })} />
              <Chips
                label="Along"
                value={words.by === 'commit' ? 'commit' : undefined}
                options={[
                  [undefined, 'by time'],
                  ['commit', 'by commit'],
                ]}
                onChange={(value) => change({ by: value })}
              />
            </div>
            {points.length > 0 && found(points, words.text).length === 0 ? (
              <Empty title="No point fits." />
            ) : points.length === 0 ? (
              <Empty title="No run has such trials yet.">
                <p>
                  Every <code>gantry test</code> adds a point. Runs that cleaning removed are gone: pin those
                  you want to keep.
                </p>
              </Empty>
            ) : (
              <Series points={found(points, words.text)} by={words.by === 'commit' ? 'commit' : 'time'} />
            )}
          </>
        )}
      </Answer>
    </>
  )
}

/** The points with a text in the names of the run, the agent, the commit or a version. */
function found(points: readonly Point[], text: string | undefined): readonly Point[] {
  if (text === undefined) return points
  const textOf = (point: Point): string =>
    [point.run, point.title, agentName(point), point.commit, JSON.stringify(point.versions)].join('\n')
  return points.filter((point) => textOf(point).toLowerCase().includes(text.toLowerCase()))
}

function Series({ points, by }: { readonly points: readonly Point[]; readonly by: 'time' | 'commit' }) {
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<Point | null>(null)
  const groups = [...Map.groupBy(points, agentName)]
  /** A second point opens the comparison. */
  const choose = (point: Point): void => {
    if (chosen === null || sideOf(chosen) === sideOf(point)) {
      setChosen(chosen === null ? point : null)
      return
    }
    const [a, b] = chosen.at < point.at ? [chosen, point] : [point, chosen]
    void navigate({ to: '/compare', search: { sides: `${sideOf(a)},${sideOf(b)}` } } as never)
  }
  return (
    <>
      <p className="note" role="status">
        {chosen === null
          ? 'Choose two points to compare them.'
          : `${agentName(chosen)} of ${chosen.run} is chosen. Choose another point to compare it with.`}
      </p>
      <Chart
        groups={groups}
        by={by}
        title="Pass rate"
        measure={({ passes, trials }) => passes / trials}
        format={percent}
        range={[0, 1]}
        onChoose={choose}
      />
      <Chart
        groups={groups}
        by={by}
        title="Cost of a trial"
        measure={({ cost_usd, trials }) => (cost_usd === null ? null : cost_usd / trials)}
        format={(cost) => (cost === 0 ? '$0' : formatCost(cost))}
        onChoose={choose}
      />
      <Chart
        groups={groups}
        by={by}
        title="Time of a trial"
        measure={({ duration_ms, trials }) => duration_ms / trials}
        format={duration}
        onChoose={choose}
      />
      <Chart
        groups={groups}
        by={by}
        title="Flaky cases"
        measure={({ flaky, cases }) => flaky / cases}
        format={percent}
        range={[0, 1]}
        onChoose={choose}
      />
      <PointTable points={points} chosen={chosen} onChoose={choose} />
    </>
  )
}

/** The point as a side of a comparison. */
function sideOf(point: Point): string {
  return `${point.run}:${encodeURIComponent(agentName(point))}`
}

/** The same as a table, for the keyboard and for exact numbers. */
function PointTable({
  points,
  chosen,
  onChoose,
}: {
  readonly points: readonly Point[]
  readonly chosen: Point | null
  readonly onChoose: (point: Point) => void
}) {
  const rows = points.toReversed()
  const [at] = useRowKeys(
    rows.length,
    (index) => rows[index] !== undefined && onChoose(rows[index]),
    (index) => document.getElementById(`point-${index}`)?.scrollIntoView({ block: 'nearest' }),
    'point',
  )
  return (
    <>
      <div className="scroll-x" tabIndex={0}>
        <table className="list">
          <caption className="hidden">{count(points.length, 'point')}</caption>
          <thead>
            <tr>
              <th>Run</th>
              <th>Started</th>
              <th>Agent</th>
              <th className="num">Pass rate</th>
              <th className="num">Trials</th>
              <th className="num">Cost</th>
              <th className="num">Time of a trial</th>
              <th>Commit</th>
              <th>Versions</th>
              <th>
                <span className="hidden">Choose</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((point, index) => {
              const before = rows.slice(index + 1).find((other) => agentName(other) === agentName(point))
              const changed = versionChanges(before, point)
              return (
                <tr
                  key={`${point.run} ${agentName(point)}`}
                  id={`point-${index}`}
                  className={point === chosen || index === at ? 'chosen' : undefined}
                >
                  <th scope="row" className="title">
                    <Link to="/runs/$run" params={{ run: point.run }}>
                      {point.title === '' ? point.run : point.title}
                    </Link>
                  </th>
                  <td>{time(point.at)}</td>
                  <td>{agentName(point)}</td>
                  <td className="num">
                    {percent(point.passes / point.trials)} <small>{interval(point)}</small>
                  </td>
                  <td className="num">{point.trials}</td>
                  <td className="num">{usd(point.cost_usd)}</td>
                  <td className="num">{duration(point.duration_ms / point.trials)}</td>
                  <td>
                    <code>{point.commit === 'unknown' ? '–' : point.commit.slice(0, 8)}</code>
                  </td>
                  <td>{changed === '' ? '' : `changed: ${changed}`}</td>
                  <td>
                    <button
                      type="button"
                      className="quiet"
                      aria-label={`choose ${agentName(point)} of ${point.run}`}
                      aria-pressed={point === chosen}
                      onClick={() => onChoose(point)}
                    >
                      choose
                    </button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <CopyTable />
    </>
  )
}

/** Versions that are not those of the point before. */
export function versionChanges(before: Point | undefined, point: Point): string {
  if (before === undefined) return ''
  return Object.entries(point.versions)
    .filter(([name, version]) => before.versions[name] !== undefined && before.versions[name] !== version)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}
