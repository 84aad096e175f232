import type { ScoutDecision } from '../contract.ts'
import type { ScoutAReport, ScoutBReport } from '../scouts/report-schemas.ts'

/**
 * What the two Scouts disagree about, settled: whatever is about tests or builds is Scout B's to know, all else Scout A's. Nobody
 * is asked.
 */
export function findConflicts(a: ScoutAReport, b: ScoutBReport): readonly ScoutDecision[] {
  return [...frameworkConflict(a, b), ...buildConflict(a, b), ...fileConflicts(a, b)].map(settle)
}

interface Conflict {
  readonly question: string
  readonly a: string
  readonly b: string
}

function settle({ question, a, b }: Conflict): ScoutDecision {
  const isScoutB = /\b(?:tests?|builds?|compil\w*)\b/i.test(question)
  return {
    question,
    decision: isScoutB ? b : a,
    rationale: isScoutB
      ? `Scout B knows tests and builds; Scout A says ${a}`
      : `Scout A knows the code; Scout B says ${b}`,
  }
}

const frameworks: readonly (readonly [string, RegExp])[] = [
  ['jest', /\bjest\b/i],
  ['vitest', /\bvitest\b/i],
  ['mocha', /\bmocha\b/i],
  ['pytest', /\bpytest\b/i],
  ['go test', /\bgo test\b/i],
  ['cargo test', /\bcargo test\b/i],
  ['junit', /\bjunit\b/i],
]

function frameworkConflict(a: ScoutAReport, b: ScoutBReport): readonly Conflict[] {
  const detected = b.test?.detected_framework
  if (detected === undefined || detected === 'custom') return []
  const named = namedBy(a, frameworks)
  if (named.length === 0 || named.includes(detected)) return []
  return [{ question: 'Which framework runs the tests?', a: named.join(', '), b: detected }]
}

const builders: readonly (readonly [string, RegExp])[] = [
  ['npm', /\bnpm (?:run|test|install|ci)\b/],
  ['yarn', /\byarn (?:run |test|install|build)/],
  ['pnpm', /\bpnpm (?:run|test|install|build)\b/],
  ['make', /(?:^|[`\s])make(?: [a-z]|`|$)/m],
  ['cargo', /\bcargo (?:build|test|run)\b/],
  ['go', /\bgo (?:build|test)\b/],
  ['gradle', /\bgradlew?\b/],
  ['maven', /\bmvn\b/],
]

function buildConflict(a: ScoutAReport, b: ScoutBReport): readonly Conflict[] {
  const detected = b.build?.detected_system
  if (detected === undefined || detected === 'custom') return []
  const named = namedBy(a, builders)
  if (named.length === 0 || named.includes(detected)) return []
  return [{ question: 'Which system builds the project?', a: named.join(', '), b: detected }]
}

/** Scout A has no field for commands: they stand in what it advises. */
function namedBy(a: ScoutAReport, words: readonly (readonly [string, RegExp])[]): readonly string[] {
  const advice = [...a.verification_tips, ...a.conventions.patterns, ...a.hypotheses].join('\n')
  return words.filter(([, pattern]) => pattern.test(advice)).map(([name]) => name)
}

const dismissal =
  /\b(?:irrelevant|unrelated|not relevant|unused|obsolete|deprecated|dead code|generated|not part of)\b/i

/** A file Scout A calls primary and Scout B dismisses in the same sentence in which it names it. */
function fileConflicts(a: ScoutAReport, b: ScoutBReport): readonly Conflict[] {
  const said = [
    b.build?.notes ?? '',
    b.test?.notes ?? '',
    b.failure_analysis?.root_cause ?? '',
    ...(b.failure_analysis?.suggested_investigation ?? []),
    ...b.environment_issues.map(({ issue }) => issue),
  ].flatMap((text) => text.split(/(?<=[.;!?])\s+|\n/))
  return a.repo_map.relevant_files
    .filter(({ relevance }) => relevance === 'primary')
    .flatMap(({ path }) => {
      const sentence = said.find((each) => each.includes(path) && dismissal.test(each))
      return sentence === undefined
        ? []
        : [
            {
              question: `Does ${path} matter for the task?`,
              a: 'it is primary',
              b: `it is not: ${sentence.trim().slice(0, 200)}`,
            },
          ]
    })
}
