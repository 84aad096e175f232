import { headAndTail } from '../../core/shorten.ts'
import type { DataBlock } from '../../judge/quote-data.ts'
import type { AttemptRecord, ParsedTask, ScoutDecision } from '../contract.ts'
import type { StuckContext } from '../reports/stuck-report.ts'
import type { ScoutAReport, ScoutBReport } from '../scouts/report-schemas.ts'
import type { Conventions } from './sample-conventions.ts'
import { smallestSlice } from './strategy.ts'

/** The data of a prompt for the Editor. */
export interface EditorPromptFacts {
  readonly task: ParsedTask
  readonly strategy: string
  readonly scoutA: ScoutAReport | null
  readonly scoutB: ScoutBReport | null
  readonly decisions: readonly ScoutDecision[]
  readonly conventions: Conventions | null
  readonly package: string | null
  readonly steps: readonly { readonly name: string; readonly command: string }[]
  readonly stuck: StuckContext | null
  readonly situation: Situation
  /** How the tests became weaker since the task began. */
  readonly weaker: readonly string[]
  /** The process of the turn before ended early. Its changes so far are in the files. */
  readonly isContinued: boolean
  /** Of the user, since the task began. */
  readonly messages: readonly string[]
  /** Whether a question can be asked. */
  readonly mayAsk: boolean
}

export type Situation =
  | { readonly kind: 'first' }
  | {
      readonly kind: 'fix' | 'replan'
      readonly attempts: readonly AttemptRecord[]
      readonly log: string
      readonly diagnosis: ScoutBReport['failure_analysis'] | null
      /** Strategies before the current one. */
      readonly earlier: readonly string[]
    }
  /** The tree failed before, or is unchanged. */
  | { readonly kind: 'repeated'; readonly of: number | null; readonly before: Situation }
  | { readonly kind: 'untested'; readonly files: readonly string[] }
  /** The steps passed, and have changed these files before they tested them. */
  | { readonly kind: 'rewritten'; readonly files: readonly string[] }
  /** The Editor asked the Scouts again. */
  | { readonly kind: 'scouted'; readonly answers: readonly DataBlock[]; readonly before: Situation }
  /** The user sent a message when the steps had passed, or answered a question, or did not. */
  | { readonly kind: 'told'; readonly question?: string; readonly isAnswered: boolean }

const maxLog = 12_000
const maxText = 6_000
const maxListed = 20

/** Quoted data: analyses, logs, an older report. Each part is capped. */
export function promptData(facts: EditorPromptFacts): readonly DataBlock[] {
  return [
    ...scoutData(facts),
    ...failureData(facts.situation),
    ...weakerData(facts),
    ...stuckData(facts.stuck),
  ]
}

function scoutData({ scoutA, scoutB, decisions, steps }: EditorPromptFacts): readonly DataBlock[] {
  const smallest = smallestSlice(scoutA)?.id
  const slices = (scoutA?.change_boundaries.safe_slices ?? []).toSorted(
    (one, other) => (one.order ?? Number.POSITIVE_INFINITY) - (other.order ?? Number.POSITIVE_INFINITY) || 0,
  )
  const commands = { ...scoutB?.build?.commands, ...scoutB?.test?.commands }
  const blocks: readonly (readonly [string, readonly string[]])[] = [
    [
      'Files that matter',
      (scoutA?.repo_map.relevant_files ?? []).map(
        ({ path, purpose, relevance }) => `${path} (${relevance}): ${purpose}`,
      ),
    ],
    ['Entry points', scoutA?.repo_map.entry_points ?? []],
    [
      'What depends on what',
      Object.entries(scoutA?.repo_map.dependency_graph ?? {}).map(
        ([name, on]) => `${name}: ${Array.isArray(on) ? on.join(', ') : JSON.stringify(on)}`,
      ),
    ],
    [
      'Safe slices, in order',
      slices.map(
        ({ id, description, files }) =>
          `${id}${id === smallest ? ' (the smallest)' : ''}: ${description} [${files.join(', ')}]`,
      ),
    ],
    ['Order of changes', scoutA?.change_boundaries.ordering_constraints ?? []],
    [
      'Risk zones',
      (scoutA?.risk_zones ?? []).map(
        ({ file, start_line, end_line, risk_level, rationale, invariants }) =>
          `${file}:${start_line}-${end_line} (${risk_level}): ${rationale} ${invariants.join('; ')}`,
      ),
    ],
    [
      'Conventions',
      [
        scoutA?.conventions.naming ?? '',
        ...(scoutA?.conventions.patterns ?? []),
        ...(scoutA?.conventions.anti_patterns ?? []).map((pattern) => `avoid: ${pattern}`),
      ].filter((line) => line !== ''),
    ],
    ['Similar code', (scoutA?.prior_art ?? []).map(({ file, description }) => `${file}: ${description}`)],
    ['Prerequisites', scoutB?.build?.prerequisites ?? []],
    [
      'Build and tests',
      Object.entries({ ...commands, coverage: scoutB?.test?.coverage_command }).flatMap(([name, command]) =>
        command == null || command === '' ? [] : [`${name}: ${command}`],
      ),
    ],
    [
      'Environment',
      (scoutB?.environment_issues ?? []).map(
        ({ issue, severity, suggested_fix }) => `${severity}: ${issue}. ${suggested_fix}`,
      ),
    ],
    ['Decided where analyses disagree', decisions.map((each) => `${each.question} ${each.decision}`)],
    ['Verification', steps.map(({ name, command }) => `${name}: ${command}`)],
  ]
  return blocks.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [{ title, text: headAndTail(lines.slice(0, maxListed).join('\n'), maxText) }],
  )
}

function failureData(situation: Situation): readonly DataBlock[] {
  if (situation.kind === 'repeated') return failureData(situation.before)
  if (situation.kind === 'scouted')
    return [
      ...situation.answers.map(({ title, text }) => ({ title, text: headAndTail(text, maxText) })),
      ...failureData(situation.before),
    ]
  if (situation.kind !== 'fix' && situation.kind !== 'replan') return []
  const { attempts, log, diagnosis } = situation
  const failed = attempts.flatMap(({ attempt, primaryFailure }) =>
    primaryFailure === null ? [] : [`${attempt}: ${primaryFailure}`],
  )
  return [
    { title: 'What failed, verification by verification', text: failed.join('\n') },
    ...(diagnosis === null || diagnosis === undefined
      ? []
      : [
          {
            title: 'Diagnosis of the last failure',
            text: headAndTail(
              [
                diagnosis.root_cause,
                ...(diagnosis.is_flaky ? [`flaky: ${diagnosis.flaky_reason ?? 'no reason given'}`] : []),
                ...diagnosis.affected_files.map((path) => `affected: ${path}`),
                ...diagnosis.suggested_investigation.map((step) => `look at: ${step}`),
              ].join('\n'),
              maxText,
            ),
          },
        ]),
    { title: 'End of the log of the last verification', text: headAndTail(log, maxLog) },
  ]
}

function weakerData({ weaker }: EditorPromptFacts): readonly DataBlock[] {
  return weaker.length === 0
    ? []
    : [{ title: 'Weaker than before', text: headAndTail(weaker.join('\n'), maxText) }]
}

function stuckData(stuck: StuckContext | null): readonly DataBlock[] {
  return stuck === null
    ? []
    : [{ title: 'Report of an earlier attempt that got stuck', text: headAndTail(stuck.text, 2 * maxText) }]
}
