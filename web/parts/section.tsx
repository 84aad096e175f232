import { Link } from '@tanstack/react-router'
import type { ReportSection } from '../api/operations.ts'
import { CopyTable } from './badges.tsx'
import { trialAt } from './trial-at.ts'

/** A table of one face, as the reports have it. */
export function Section({ section }: { readonly section: ReportSection }) {
  const { title, lead, columns, rows } = section
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {lead !== undefined && <p className="lead">{lead}</p>}
      {rows.length > 0 && (
        <>
          <div className="scroll-x" tabIndex={0}>
            <table className="list">
              <thead>
                <tr>
                  {columns.map((column) => (
                    <th key={column.title} className={column.align === 'right' ? 'num' : undefined}>
                      {column.title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <tr key={at}>
                    {row.map((cell, index) => (
                      <td key={index} className={columns[index]?.align === 'right' ? 'num' : undefined}>
                        <Cell text={cell} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <CopyTable />
        </>
      )}
    </section>
  )
}

/** A path of a trial is a link to it. */
function Cell({ text }: { readonly text: string }) {
  const place = trialAt(text)
  if (place === null) return text
  return (
    <Link to="/runs/$run/$trial" params={place} title={text}>
      {place.trial}
    </Link>
  )
}
