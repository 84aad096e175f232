import { Link } from '@tanstack/react-router'
import type { CaseCell } from '../api/operations.ts'
import { agentName } from './format.ts'

/** Cases by agents: colour and count say how it went. */
export function Matrix({ run, cells }: { readonly run: string; readonly cells: readonly CaseCell[] }) {
  const agents = [...new Set(cells.map(agentName))]
  const rows = [...Map.groupBy(cells, (cell) => cell.case)].sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    <div className="scroll-x">
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">Case</th>
            {agents.map((agent) => (
              <th scope="col" key={agent}>
                {agent}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ofCase]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {agents.map((agent) => {
                const cell = ofCase.find((one) => agentName(one) === agent)
                return <td key={agent}>{cell === undefined ? '–' : <Cell run={run} cell={cell} />}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ run, cell }: { readonly run: string; readonly cell: CaseCell }) {
  const { pass, fail, infra, invalid } = cell.counts
  const counted = pass + fail
  const level = counted === 0 ? 'none' : String(Math.round((pass / counted) * 4))
  const isFlaky = pass > 0 && fail > 0
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      search={{ case: cell.case, agent: cell.agent, model: cell.model } as never}
      hash="trials"
      className={`cell share-${level}`}
      title={`${pass} passed, ${fail} failed, ${infra + invalid} not counted`}
    >
      {counted === 0 ? '–' : `${pass}/${counted}`}
      {isFlaky && <span title="flaky: passed and failed"> ~</span>}
      {infra + invalid > 0 && <small> +{infra + invalid}</small>}
    </Link>
  )
}
