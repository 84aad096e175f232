import { Link, useNavigate } from '@tanstack/react-router'
import { useApi } from '../api/client.ts'
import type { Calibration, LabelList } from '../api/operations.ts'
import { CopyTable, RateBar, Verdict } from '../parts/badges.tsx'
import { Search } from '../parts/fields.tsx'
import { count, interval, percent, time, usd } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'

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
              <List answer={answer} />
            </>
          )
        }
      </Answer>
    </>
  )
}

function List({ answer: { labels, file } }: { readonly answer: LabelList }) {
  const [words, change] = useWords()
  const navigate = useNavigate()
  const text = words.text?.toLowerCase()
  const shown = labels.filter(
    ({ case: name, note = '', label, trial = '' }) =>
      text === undefined || [name, note, label, trial].join('\n').toLowerCase().includes(text),
  )
  const [chosen] = useRowKeys(
    shown.length,
    (index) => {
      const { run, trial } = shown[index] ?? {}
      if (run !== undefined && trial !== undefined)
        void navigate({ to: '/runs/$run/$trial', params: { run, trial } })
    },
    (index) => document.getElementById(`label-${index}`)?.scrollIntoView({ block: 'nearest' }),
    'label',
  )
  return (
    <>
      <h2>
        {count(labels.length, 'label')} <small>{file}</small>
      </h2>
      <div className="filters">
        <Search label="Search" value={words.text} onChange={(value) => change({ text: value })} />
      </div>
      {shown.length === 0 && <Empty title="No label fits." />}
      {shown.length > 0 && (
        <>
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
                {shown.map((label, index) => (
                  <tr
                    key={label.content}
                    id={`label-${index}`}
                    className={index === chosen ? 'chosen' : undefined}
                  >
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
          <CopyTable />
        </>
      )}
    </>
  )
}

function Judges({ answer: { judges, trust } }: { readonly answer: Calibration }) {
  if (judges.length === 0)
    return <p className="note">No labelled trial was scored by a judge, so there is no agreement to show.</p>
  return (
    <>
      {judges.map((judge, at) => (
        <section key={judge.model} aria-label={judge.model}>
          <h2>{judge.model}</h2>
          <p className="sentence">{trust[at]}</p>
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
                  : `; corrected for its errors ${percent(judge.corrected_pass_rate.value)} (${interval(judge.corrected_pass_rate)})`
              }. `}
            {judge.best_threshold !== null &&
              judge.best_threshold.agreement > (judge.agreement.value ?? 1) &&
              `A threshold of ${judge.best_threshold.threshold} would agree with ${percent(judge.best_threshold.agreement)}. `}
            Its answers cost {usd(judge.cost_usd)}.
          </p>
        </section>
      ))}
    </>
  )
}
