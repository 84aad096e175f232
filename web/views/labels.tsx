import { Link } from '@tanstack/react-router'
import { useApi } from '../api/client.ts'
import type { Calibration, JudgeCalibration } from '../api/operations.ts'
import { RateBar, Verdict } from '../parts/badges.tsx'
import { count, percent, time, usd } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'

/** Labels of people, and how far each judge agrees with them. */
export function Labels() {
  const labels = useApi('listLabels')
  const calibration = useApi('calibration')
  return (
    <>
      <h1>Labels</h1>
      <Answer query={labels} what="labels">
        {(answer) =>
          answer.labels.length === 0 ? (
            <Empty title="There are no labels yet.">
              <p>
                Open a trial and press <kbd>+</kbd> when its result is good, <kbd>-</kbd> when it is bad. With
                labels <code>gantry judge calibrate</code> says how far a judge can be trusted.
              </p>
              {answer.file === null && (
                <p>Start gantry view in the directory of a project: its labels.jsonl keeps them.</p>
              )}
            </Empty>
          ) : (
            <>
              <Answer query={calibration} what="the judges">
                {(found) => <Judges answer={found} />}
              </Answer>
              <h2>
                {count(answer.labels.length, 'label')} <small>{answer.file}</small>
              </h2>
              <div className="scroll-x" tabIndex={0}>
                <table className="list">
                  <thead>
                    <tr>
                      <th>Label</th>
                      <th>Judge</th>
                      <th>Case</th>
                      <th>Note</th>
                      <th>Given</th>
                    </tr>
                  </thead>
                  <tbody>
                    {answer.labels.map((label) => (
                      <tr key={label.content}>
                        <td>
                          <Verdict value={label.label} />
                        </td>
                        <td>
                          {label.judge === undefined ? (
                            '–'
                          ) : (
                            <Verdict value={label.judge.passed ? 'pass' : 'fail'} />
                          )}
                        </td>
                        <td>
                          {label.run === undefined || label.trial === undefined ? (
                            label.case
                          ) : (
                            <Link to="/runs/$run/$trial" params={{ run: label.run, trial: label.trial }}>
                              {label.case}
                            </Link>
                          )}
                        </td>
                        <td>{label.note ?? ''}</td>
                        <td>{time(label.at)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Answer>
    </>
  )
}

function Judges({ answer: { judges, enough, poor_kappa } }: { readonly answer: Calibration }) {
  if (judges.length === 0) return <p className="note">No labelled trial was judged.</p>
  return (
    <>
      {judges.map((judge) => (
        <section key={judge.model} aria-label={judge.model}>
          <h2>{judge.model}</h2>
          <p className="sentence">{sentenceOf(judge, enough, poor_kappa)}</p>
          <table className="rates">
            <tbody>
              {(
                [
                  ['agreement', judge.agreement],
                  ['good results it passed', judge.sensitivity],
                  ['bad results it failed', judge.specificity],
                ] as const
              ).map(([name, rate]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>
                    <RateBar rate={rate} label={name} />
                  </td>
                  <td>
                    <small>{count(rate.n, 'label')}</small>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="note">
            {judge.pass_rate !== null &&
              `It passed ${percent(judge.pass_rate)} of ${count(judge.judged, 'judged trial')}${
                judge.corrected_pass_rate === null
                  ? ''
                  : `; corrected for its errors ${percent(judge.corrected_pass_rate.value)} (${percent(judge.corrected_pass_rate.low)} to ${percent(judge.corrected_pass_rate.high)})`
              }. `}
            {judge.best_threshold !== null &&
              `A threshold of ${judge.best_threshold.threshold} would agree with ${percent(judge.best_threshold.agreement)}. `}
            Its answers cost {usd(judge.cost_usd)}.
          </p>
        </section>
      ))}
    </>
  )
}

function sentenceOf({ labels, kappa }: JudgeCalibration, enough: number, poorKappa: number): string {
  if (labels < enough) return `Uncalibrated: ${count(labels, 'label')} of at least ${enough}.`
  if (kappa === null) return 'Kappa is unknown: all labels or all answers are the same.'
  const range = `kappa ${kappa.value.toFixed(2)} (${kappa.low.toFixed(2)} to ${kappa.high.toFixed(2)})`
  return kappa.value < poorKappa ? `Too low to trust: ${range}.` : `It agrees with people: ${range}.`
}
