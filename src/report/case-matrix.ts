import type { RunSummary } from '../core/summary.ts'
import type { ReportSection } from './contract.ts'
import { agentName } from './trial-sentences.ts'

const maxRows = 200

/** Cases by agents or arms; nothing when no case has two of them. */
export function caseMatrix({ cases, agents: rates = [] }: RunSummary): readonly ReportSection[] {
  const agents = [...new Set([...rates, ...cases].map(agentName))]
  const byCase = [...Map.groupBy(cases, (row) => row.case)]
  if (byCase.every(([, group]) => group.length < 2)) return []
  const rows = byCase.slice(0, maxRows).map(([name, group]) => [
    name,
    ...agents.map((agent) => {
      const row = group.find((each) => agentName(each) === agent)
      if (row === undefined || row.passRate.n === 0) return '-'
      return `${row.counts.pass}/${row.passRate.n}`
    }),
  ])
  return [
    {
      title: 'Cases by agents',
      ...(byCase.length > maxRows && { lead: `The first ${maxRows} of ${byCase.length} cases.` }),
      columns: [{ title: 'case' }, ...agents.map((title) => ({ title, align: 'right' as const }))],
      rows,
    },
  ]
}
