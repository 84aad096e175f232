import { counted } from '../../../core/counted.ts'
import type { ReportSection } from '../../../report/contract.ts'
import type { Analysis } from '../../analyze/contract.ts'

/** What the files alone tell. Notes that only inform are left to `gantry plugin analyze`. */
export function findingSection({
  findings,
  listing,
}: Pick<Analysis, 'findings' | 'listing'>): ReportSection | null {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  const hidden = listing.entries.filter(({ shown }) => shown !== 'whole').length
  if (worth.length === 0 && hidden === 0) return null
  return {
    title: 'Findings in the files',
    lead: `${hidden === 0 ? '' : `${counted(hidden, 'description')} would be cut or dropped from the listing that the model sees. `}What to do about each: gantry plugin analyze.`,
    columns: [{ title: 'finding' }, { title: 'severity' }, { title: 'message' }],
    rows: worth.map(({ code, severity, message }) => [code, severity, message]),
  }
}
