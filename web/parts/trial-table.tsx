import { useQueries } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { call, useApi } from '../api/client.ts'
import type { Operations, Run, TrialList, TrialRow } from '../api/operations.ts'
import { Copy, markdownTable, Verdict } from './badges.tsx'
import { agentName, count, duration, usd } from './format.ts'
import { Answer, Empty } from './states.tsx'
import { useRowKeys } from './use-row-keys.ts'

type Query = Omit<Operations['listTrials']['query'], 'offset' | 'limit'>

type Begun = Run['begun'][number]
type Row = Pick<
  TrialRow,
  'trial_id' | 'case' | 'agent' | 'model' | 'attempt' | 'reason' | 'score' | 'cost_usd'
> & {
  readonly verdict: string
  readonly duration_ms: number | null
}

const features = tableFeatures({})
const helper = createColumnHelper<typeof features, Row>()
const columns = helper.columns([
  helper.accessor('verdict', {
    id: 'verdict',
    header: 'Verdict',
    cell: ({ getValue }) => <Verdict value={getValue()} />,
  }),
  helper.accessor('case', { id: 'case', header: 'Case' }),
  helper.accessor((row) => agentName(row), { id: 'agent', header: 'Agent' }),
  helper.accessor('attempt', { id: 'attempt', header: '#' }),
  helper.accessor('reason', { id: 'reason', header: 'Reason' }),
  helper.accessor((row) => (row.score === null ? '' : row.score.toFixed(2)), {
    id: 'score',
    header: 'Score',
  }),
  helper.accessor((row) => usd(row.cost_usd), { id: 'cost', header: 'Cost' }),
  helper.accessor((row) => duration(row.duration_ms), { id: 'time', header: 'Time' }),
])
const sortable = ['verdict', 'case', 'agent', 'score', 'cost', 'time']
const pageSize = 100
const copiedAtOnce = 1_000
const rowPx = 34

interface TableProps {
  readonly run: string
  readonly query: Query
  /** Trials without a verdict, which come first. */
  readonly begun: readonly Begun[]
  /** Said when there is no trial. */
  readonly none: string
  readonly onSort: (sort: string, descending: boolean) => void
}

/** Trials of a run, of which only the visible ones are loaded. */
export function TrialTable(props: TableProps) {
  const { run, query, none, begun } = props
  const first = useApi(
    'listTrials',
    { path: { run }, query: { ...query, offset: 0, limit: pageSize } },
    { placeholderData: (before) => before },
  )
  return (
    <Answer query={first} what="trials">
      {({ total }) =>
        total + begun.length === 0 ? <Empty title={none} /> : <Rows {...props} total={total} />
      }
    </Answer>
  )
}

/** What is known of a trial before it has a record. */
function rowOf({ is_over: isOver, ...trial }: Begun): Row {
  return {
    ...trial,
    verdict: isOver ? 'ended' : 'running',
    reason: isOver ? 'The agent has ended. The verdict follows.' : 'The agent works.',
    score: null,
    cost_usd: null,
    duration_ms: null,
  }
}

/** All trials that the filters let through, also those that are not loaded because they are out of sight. */
async function trialsMarkdown(run: string, query: Query, begun: readonly Begun[]): Promise<string> {
  const rows: Row[] = begun.map(rowOf)
  for (let offset = 0; ; offset += copiedAtOnce) {
    const given = { path: { run }, query: { ...query, offset, limit: copiedAtOnce } }
    const { trials, total } = await call('listTrials', given)
    rows.push(...trials)
    if (offset + trials.length >= total || trials.length === 0) break
  }
  return markdownTable(
    ['Verdict', 'Case', 'Agent', '#', 'Reason', 'Cost', 'Time'],
    rows.map((row) => [
      ...[row.verdict, row.case, agentName(row), String(row.attempt), row.reason],
      ...[usd(row.cost_usd), duration(row.duration_ms)],
    ]),
  )
}

function Rows({ run, query, begun, onSort, total: ended }: TableProps & { readonly total: number }) {
  const total = begun.length + ended
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 12,
  })
  const visible = virtual.getVirtualItems()
  const pageAt = (index = 0): number => Math.max(0, Math.floor((index - begun.length) / pageSize))
  const first = pageAt(visible[0]?.index)
  const last = pageAt(visible.at(-1)?.index)
  const pages = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const answers = useQueries({
    queries: pages.map((page) => {
      const given = { path: { run }, query: { ...query, offset: page * pageSize, limit: pageSize } }
      return {
        queryKey: ['listTrials', given],
        queryFn: ({ signal }: { signal: AbortSignal }) => call('listTrials', given, signal),
        placeholderData: (before: TrialList | undefined) => before,
      }
    }),
  })
  const rows = useMemo(() => {
    const found: Row[] = begun.map(rowOf)
    for (const [at, page] of pages.entries())
      for (const [index, trial] of (answers[at]?.data?.trials ?? []).entries())
        found[begun.length + page * pageSize + index] = trial
    return found
  }, [begun, first, last, ...answers.map(({ data }) => data)])
  const shown = useMemo(() => rows.filter((row) => row !== undefined), [rows])
  const table = useTable({ features, columns, data: shown, getRowId: (row) => row.trial_id })
  const open = (index: number): void => {
    const trial = rows[index]?.trial_id
    if (trial !== undefined) void navigate({ to: '/runs/$run/$trial', params: { run, trial } } as never)
  }
  const [chosen] = useRowKeys(total, open, (index) => virtual.scrollToIndex(index), 'trial')
  return (
    <>
      <p className="note">
        {count(ended, 'trial')}
        {begun.length > 0 && ` ended, ${begun.length} under way`}{' '}
        <Copy text={() => trialsMarkdown(run, query, begun)} label="copy as Markdown" />
      </p>
      <div ref={box} className="trials" role="table" aria-rowcount={total} aria-label="Trials">
        <div role="rowgroup" className="trials-head">
          {table.getHeaderGroups().map((group) => (
            <div role="row" className="trial-row" key={group.id}>
              {group.headers.map((header) => {
                const isSorted = query.sort === header.id
                const sort = !isSorted ? 'none' : query.descending === 'true' ? 'descending' : 'ascending'
                return (
                  <div role="columnheader" aria-sort={sort} key={header.id} className={`c-${header.id}`}>
                    {sortable.includes(header.id) ? (
                      <button
                        type="button"
                        className="quiet"
                        onClick={() => onSort(header.id, isSorted && query.descending !== 'true')}
                      >
                        <table.FlexRender header={header} />
                        {isSorted && (query.descending === 'true' ? ' ↓' : ' ↑')}
                      </button>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </div>
                )
              })}
            </div>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {visible.map(({ index, start }) => {
            const trial = rows[index]
            const row = trial === undefined ? undefined : table.getRowModel().rowsById[trial.trial_id]
            return (
              <div
                role="row"
                aria-rowindex={index + 1}
                key={index}
                className={`trial-row${index === chosen ? ' chosen' : ''}`}
                style={{ position: 'absolute', top: start, height: rowPx }}
              >
                {row?.getAllCells().map((cell) => (
                  <div role="cell" key={cell.id} className={`c-${cell.column.id}`}>
                    {cell.column.id === 'case' ? (
                      <Link to="/runs/$run/$trial" params={{ run, trial: row.original.trial_id }}>
                        <table.FlexRender cell={cell} />
                      </Link>
                    ) : (
                      <table.FlexRender cell={cell} />
                    )}
                  </div>
                )) ?? <div role="cell">…</div>}
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}
