import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { percentDecoded } from '../../src/core/percent-decoded.ts'
import { useApi } from '../api/client.ts'
import type { Comparison, ComparisonList } from '../api/operations.ts'
import { Copy, Verdict } from '../parts/badges.tsx'
import { Search } from '../parts/fields.tsx'
import { Forest } from '../parts/forest.tsx'
import { agentName, count, percent, points, time } from '../parts/format.ts'
import { Answer, Empty } from '../parts/states.tsx'
import { trialAt } from '../parts/trial-at.ts'
import { useRowKeys } from '../parts/use-row-keys.ts'
import { useWords } from '../parts/use-words.ts'

/** Two or more runs, arms or agents: is it better? */
export function Compare() {
  const [words, change] = useWords()
  const sides = (words.sides ?? '').split(',').filter((side) => side !== '')
  const set = (next: readonly string[]): void => change({ sides: next.join(',') })
  return (
    <>
      <h1>Compare</h1>
      <Sides sides={sides} onChange={set} />
      {sides.length < 2 ? (
        <Empty title="Choose two runs, or two agents of a run.">
          <p>
            The first is what the others are compared with. The command line does the same:{' '}
            <code>gantry compare A B</code>.
          </p>
        </Empty>
      ) : (
        <Result sides={sides} words={words} change={change} />
      )}
    </>
  )
}

/** What is compared. A run can be narrowed to one of its agents or models. */
function Sides({
  sides,
  onChange,
}: {
  readonly sides: readonly string[]
  readonly onChange: (sides: readonly string[]) => void
}) {
  const { data } = useApi('listRuns', { query: { kind: 'scenario', limit: 200 } } as never)
  const runs = data?.runs.filter(({ live, totals }) => !live && (totals?.trials ?? 0) > 0) ?? []
  return (
    <ol className="sides">
      {[...sides, ''].map((side, index) => {
        const [run = '', ...rest] = side.split(':')
        return (
          // A side has no other name than its place.
          <li key={index}>
            <label className="field">
              <span>{index === 0 ? 'A, the base' : `${String.fromCharCode(65 + index)}`}</span>
              <select
                value={run}
                onChange={({ target }) =>
                  onChange(
                    target.value === ''
                      ? sides.filter((_, at) => at !== index)
                      : [...sides.slice(0, index), target.value, ...sides.slice(index + 1)],
                  )
                }
              >
                <option value="">{index < sides.length ? 'remove' : 'choose a run'}</option>
                {run !== '' && !runs.some(({ id }) => id === run) && <option value={run}>{run}</option>}
                {runs.map(({ id, title, startedAt }) => (
                  <option key={id} value={id}>
                    {title} ({time(startedAt)})
                  </option>
                ))}
              </select>
            </label>
            {run !== '' && (
              <PartOfRun
                run={run}
                part={percentDecoded(rest.join(':'))}
                onChange={(part) => {
                  const named = part === '' ? run : `${run}:${encodeURIComponent(part)}`
                  onChange([...sides.slice(0, index), named, ...sides.slice(index + 1)])
                }}
              />
            )}
          </li>
        )
      })}
    </ol>
  )
}

function PartOfRun({
  run,
  part,
  onChange,
}: {
  readonly run: string
  readonly part: string
  readonly onChange: (part: string) => void
}) {
  const { data } = useApi('getRun', { path: { run } })
  const names = [
    ...new Set(
      (data?.cells ?? []).flatMap((cell) =>
        cell.model === 'default' ? [cell.agent] : [cell.agent, cell.model, agentName(cell)],
      ),
    ),
  ]
  if (names.length < 2 && part === '') return null
  return (
    <label className="field">
      <span>only</span>
      <select value={part} onChange={({ target }) => onChange(target.value)}>
        <option value="">all of it</option>
        {part !== '' && !names.includes(part) && <option value={part}>{part}</option>}
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}

type Words = ReturnType<typeof useWords>

function Result({
  sides,
  words,
  change,
}: {
  readonly sides: readonly string[]
  readonly words: Words[0]
  readonly change: Words[1]
}) {
  const { margin } = words
  const query = useApi('compare', { query: { sides: sides.join(','), margin } })
  return (
    <Answer query={query} what="the comparison">
      {(answer) => (
        <>
          <div className="filters">
            <label className="field">
              <span>Differences that do not matter</span>
              <select
                value={margin ?? '0.05'}
                onChange={({ target }) =>
                  change({ margin: target.value === '0.05' ? undefined : target.value })
                }
              >
                {['0.01', '0.02', '0.05', '0.1', '0.2'].map((value) => (
                  <option key={value} value={value}>
                    {Number(value) * 100} points
                  </option>
                ))}
              </select>
            </label>
            <Search label="Search the cases" value={words.text} onChange={(text) => change({ text })} />
          </div>
          <Overview answer={answer} shortName={shortNames(answer.sides)} />
          <Comparisons answer={answer} text={words.text?.toLowerCase()} />
        </>
      )}
    </Answer>
  )
}

type ShownCase = Comparison['cases'][number]

/** Each side against the first. The keys go through the cases of all of them. */
function Comparisons({
  answer: { comparisons, sides },
  text,
}: {
  readonly answer: ComparisonList
  readonly text: string | undefined
}) {
  const [isAll, setAll] = useState(false)
  const known = comparisons
    .map((comparison, index) => {
      const flips = comparison.cases.filter(isFlip)
      const wanted = isAll || text !== undefined || flips.length === 0 ? comparison.cases : flips
      const shown = wanted.filter(
        (one) => text === undefined || `${one.case}\n${agentName(one)}`.toLowerCase().includes(text),
      )
      return { comparison, shown, index, flips: flips.length }
    })
    .filter(({ comparison }) => comparison.pairs > 0)
  const flat = known.flatMap(({ shown }) => shown)
  const rowOf = (index: number): HTMLElement | null => document.getElementById(`case-${index}`)
  const [chosen] = useRowKeys(
    flat.length,
    (index) => rowOf(index)?.querySelector('a')?.click(),
    (index) => rowOf(index)?.scrollIntoView({ block: 'nearest' }),
    'case',
  )
  return known.map(({ comparison, shown, index, flips }) => (
    <OneComparison
      key={comparison.after.name}
      comparison={comparison}
      shown={shown}
      first={flat.indexOf(shown[0] as ShownCase)}
      chosen={chosen}
      command={`gantry compare ${sides[0]?.name ?? ''} ${sides[index + 1]?.name ?? ''}`}
      paths={[sides[0], sides[index + 1]].flatMap((side) => side?.run.dir ?? [])}
      isOnly={comparisons.length === 1}
      letter={String.fromCharCode(66 + index)}
      shortName={shortNames(sides)}
    >
      <small>
        {count(flips, 'case')} changed of {comparison.cases.length}; p is adjusted for the number of cases
      </small>
      {text === undefined && flips > 0 && flips < comparison.cases.length && (
        <button type="button" onClick={() => setAll(!isAll)}>
          {isAll ? 'Only what changed' : 'All cases'}
        </button>
      )}
    </OneComparison>
  ))
}

function isFlip({ before, after }: ShownCase): boolean {
  return before.passes / before.trials !== after.passes / after.trials
}

/** A run by its time, or one part of a run by its name: with the run when another side has a part of that name. */
function shortNames(sides: ComparisonList['sides']): (name: string) => string {
  const split = (name: string): readonly [run: string, part: string] => {
    const [run = '', ...rest] = name.split(':')
    return [run.replace(/^run_\d{4}(\d\d)(\d\d)_(\d\d)(\d\d)\d\d_/, '$1-$2 $3:$4 '), rest.join(':')]
  }
  return (name) => {
    const [run, part] = split(name)
    if (part === '') return run
    return sides.filter((side) => split(side.name)[1] === part).length > 1 ? `${part} of ${run}` : part
  }
}

const verdictWords = {
  better: 'is better',
  worse: 'is worse',
  same: 'is the same within the margin',
  inconclusive: 'cannot tell yet',
} as const

function Overview({
  answer: { comparisons },
  shortName,
}: {
  readonly answer: ComparisonList
  readonly shortName: (name: string) => string
}) {
  const known = comparisons.filter(({ pairs }) => pairs > 0)
  const [first] = known
  return (
    <section aria-label="Result">
      {comparisons
        .filter(({ pairs }) => pairs === 0)
        .map((comparison) => (
          <Nothing key={comparison.after.name} comparison={comparison} shortName={shortName} />
        ))}
      {known.map(({ verdict, after, before, difference, p, pairs, needed_trials_per_case: needed }) => (
        <p className="sentence" key={after.name}>
          <Verdict value={verdict} /> {shortName(after.name)}{' '}
          {verdict === 'inconclusive' ? `against ${shortName(before.name)}: ` : ''}
          {verdictWords[verdict]}
          {verdict === 'better' || verdict === 'worse' ? ` than ${shortName(before.name)}` : ''}
          {difference.value !== null &&
            `: ${points(difference.value)} points (${points(difference.low)} to ${points(difference.high)}), p ${p.toFixed(3)}, ${count(pairs, 'case')}`}
          {needed !== null && `. About ${count(needed, 'more trial')} per case would probably decide it`}.
        </p>
      ))}
      {first !== undefined && <h2>Difference of the pass rates, in points</h2>}
      {first !== undefined && (
        <Forest
          label="Difference of the pass rates"
          from={-1}
          to={1}
          zero={0}
          margin={first.margin}
          rows={known.map(({ after, difference: { value, low, high } }) => ({
            name: shortName(after.name),
            value,
            low,
            high,
            text:
              value === null ? 'nothing to compare' : `${points(value)} (${points(low)} to ${points(high)})`,
          }))}
        />
      )}
    </section>
  )
}

/** Two sides without a pair of results have no verdict. Says what `gantry compare` says. */
function Nothing({
  comparison: { before, after, left_out: leftOut },
  shortName,
}: {
  readonly comparison: Comparison
  readonly shortName: (name: string) => string
}) {
  const reasons = [...new Set(leftOut.map(({ reason }) => reason))]
  const [one = [], other = []] = reasons.map((reason) => leftOut.filter((each) => each.reason === reason))
  const isOtherSuite =
    reasons.length === 2 && !other.some((each) => one.some((same) => same.case === each.case))
  return (
    <>
      <p className="sentence">
        {shortName(before.name)} and {shortName(after.name)} have nothing that can be compared
        {reasons.length > 0 && `: ${reasons.join('; ')}`}.
      </p>
      <p className="note">
        {isOtherSuite
          ? 'They have no case in common: choose runs of the same scenarios.'
          : 'Agents of other names are compared by choosing one of each side.'}
      </p>
    </>
  )
}

const amounts: Readonly<Record<string, string>> = {
  cost_usd: 'cost',
  tokens: 'tokens',
  time_ms: 'time',
  commands: 'commands',
  errors: 'errors',
}

function OneComparison({
  comparison,
  shown,
  first,
  chosen,
  command,
  paths,
  isOnly,
  letter,
  shortName,
  children,
}: {
  readonly comparison: Comparison
  readonly shown: readonly ShownCase[]
  /** Number of its first row, among the rows of all comparisons, and of the row chosen by a key. */
  readonly first: number
  readonly chosen: number
  readonly children: ReactNode
  readonly command: string
  /** Directories of the runs. */
  readonly paths: readonly string[]
  readonly isOnly: boolean
  /** Of the later side. */
  readonly letter: string
  readonly shortName: (name: string) => string
}) {
  const { after, before, metrics, left_out: leftOut, regressions, doubts } = comparison
  const known = Object.entries(metrics).flatMap(([name, ratio]) => (ratio == null ? [] : [{ name, ratio }]))
  return (
    <section aria-label={`${after.name} against ${before.name}`}>
      {!isOnly && (
        <h2>
          {shortName(after.name)} against {shortName(before.name)}
        </h2>
      )}
      {doubts.map((doubt) => (
        <p className="note" key={doubt}>
          Careful: {doubt}
        </p>
      ))}
      {known.length > 0 && (
        <>
          <h3>Ratios; less is better</h3>
          <Forest
            label="Ratios"
            from={-2}
            to={2}
            zero={0}
            rows={known.map(({ name, ratio: { ratio, low, high } }) => ({
              name: amounts[name] ?? name,
              value: Math.log2(Math.max(ratio, 0.01)),
              low: low === null ? null : Math.log2(Math.max(low, 0.01)),
              high: high === null ? null : Math.log2(Math.max(high, 0.01)),
              text: `${ratio.toFixed(2)}x${low === null || high === null ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`}`,
            }))}
          />
        </>
      )}
      <h3>Cases</h3>
      <p className="actions">
        {children}
        <Copy text={() => command} label="copy command" />
        <Copy text={() => markdownOf(comparison)} label="copy as Markdown" />
        <Copy text={() => paths.join('\n')} label="copy paths" />
      </p>
      <div className="scroll-x" tabIndex={0}>
        <table className="list">
          <thead>
            <tr>
              <th>Case</th>
              <th>Agent</th>
              <th className="num">A</th>
              <th className="num">{letter}</th>
              <th className="num">p</th>
              <th>What changed</th>
              <th>Transcripts</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one, at) => (
              <tr
                key={`${one.case} ${agentName(one)}`}
                id={`case-${first + at}`}
                className={first + at === chosen ? 'chosen' : undefined}
              >
                <td>{one.case}</td>
                <td>{agentName(one)}</td>
                <td className="num">
                  {one.before.passes}/{one.before.trials}
                </td>
                <td className="num">
                  {one.after.passes}/{one.after.trials}
                </td>
                <td className="num">{one.p.toFixed(3)}</td>
                <td>{one.gate?.replace(/ in B$/, ` in ${letter}`) ?? ''}</td>
                <td>
                  <Transcripts a={one.before.trial} b={one.after.trial} letter={letter} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {regressions.length > 0 && (
        <>
          <h3>Regressions</h3>
          <ul>
            {regressions.map((one) => (
              <li key={`${one.case} ${agentName(one)} ${one.message}`}>
                {one.case} ({agentName(one)}): {one.message}
              </li>
            ))}
          </ul>
        </>
      )}
      {leftOut.length > 0 && (
        <details>
          <summary>{count(leftOut.length, 'result')} left out</summary>
          <ul>
            {leftOut.map((one) => (
              <li key={`${one.case} ${agentName(one)} ${one.reason}`}>
                {one.case} ({agentName(one)}): {one.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function Transcripts({
  a,
  b,
  letter,
}: {
  readonly a: string | null
  readonly b: string | null
  readonly letter: string
}) {
  const [before, after] = [trialAt(a), trialAt(b)]
  const only = before ?? after
  if (only === null) return null
  if (before === null || after === null)
    return (
      <Link to="/runs/$run/$trial" params={only}>
        {before === null ? letter : 'A'}
      </Link>
    )
  const sides = { a: `${before.run}/${before.trial}`, b: `${after.run}/${after.trial}` }
  return (
    <Link to={'/side-by-side' as never} search={sides as never}>
      side by side
    </Link>
  )
}

function markdownOf({ verdict, before, after, difference, p, cases }: Comparison): string {
  const changed = cases.filter((one) => one.gate !== null)
  return [
    `**${after.name}** against **${before.name}**: ${verdict}, ${difference.value === null ? '' : `${points(difference.value)} points (${points(difference.low)} to ${points(difference.high)})`}, p ${p.toFixed(3)}`,
    '',
    '| case | A | B | what changed |',
    '|---|---|---|---|',
    ...changed.map(
      (one) =>
        `| ${one.case} | ${percent(one.before.passes / one.before.trials)} | ${percent(one.after.passes / one.after.trials)} | ${one.gate} |`,
    ),
  ].join('\n')
}
