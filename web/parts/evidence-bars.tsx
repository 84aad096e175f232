import type { GuardSessionPage } from '../api/operations.ts'
import { Verdict } from './badges.tsx'

/** Of each command: when its last run still proved something. */
export function EvidenceBars({
  evidence,
  from,
  to,
}: {
  readonly evidence: GuardSessionPage['evidence']
  readonly from: string
  readonly to: string
}) {
  if (evidence.length === 0) return null
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const x = (at: string): number => ((Date.parse(at) - start) / Math.max(1, end - start)) * 1_000
  return (
    <section aria-label="Evidence">
      <h2>Evidence</h2>
      <div className="scroll-x" tabIndex={0}>
        <table className="evidence">
          <tbody>
            {evidence.map(({ command, points }) => (
              <tr key={command}>
                <th scope="row">
                  <code>{command}</code>
                </th>
                <td>
                  <svg
                    viewBox="0 0 1000 16"
                    preserveAspectRatio="none"
                    role="img"
                    aria-label={wordsOf(points)}
                  >
                    {points.map(({ at, status }, index) => {
                      const left = x(at)
                      const next = points[index + 1]
                      const right = next === undefined ? 1_000 : x(next.at)
                      return (
                        <rect
                          key={at}
                          x={left}
                          y="2"
                          width={Math.max(3, right - left)}
                          height="12"
                          className={`e-${status}`}
                        >
                          <title>{`${status} from ${clock(at)}`}</title>
                        </rect>
                      )
                    })}
                  </svg>
                </td>
                <td>
                  <Verdict value={points.at(-1)?.status ?? 'missing'} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function wordsOf(points: GuardSessionPage['evidence'][number]['points']): string {
  return points.map(({ at, status }) => `${status} from ${clock(at)}`).join(', ')
}

function clock(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB')
}
