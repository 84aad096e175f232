import { counted } from '../core/counted.ts'
import { type ActiveTask, type KeptVerification, throwIfStopped } from './active-task.ts'
import {
  milestones,
  type ScoutAnswer,
  type ScoutDecision,
  type ScoutName,
  type ScoutOutcome,
  type ScoutQuery,
} from './contract.ts'
import { sampleConventions } from './editor/sample-conventions.ts'
import { firstStrategy } from './editor/strategy.ts'
import type { ScoutAReport, ScoutBReport } from './scouts/report-schemas.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { infra } from './task-halt.ts'

/** Asks both Scouts, one after the other, settles where they disagree, and derives the first strategy. */
export async function analyse(active: ActiveTask): Promise<void> {
  const { emit, task, known, request, states } = active
  states.move('ANALYZING', 'the task was started')
  emit({ kind: 'milestone', milestone: 'analyzing', text: milestones.analyzing })
  const inside = request.package === null ? '' : `\nThe task is confined to the package ${request.package}.`
  await askScoutA(active, {
    question: `Which files matter for this task, where are the entry points and risk zones, what is the smallest safe slice, and which conventions hold?\n\nTask: ${task.objective}${inside}`,
  })
  await askScoutB(active, {
    question: `How is this repository built and tested, what does it need, and what in the environment may stand in the way of this task?\n\nTask: ${task.objective}${inside}`,
  })
  await settleConflicts(active)
  known.strategies.push(firstStrategy(task, known.scoutA?.report ?? null, active.stuck))
  emit({ kind: 'milestone', milestone: 'analyzed', text: milestones.analyzed })
  await takeSnapshot(active, 'task_start')
}

/** Asks Scout B why a verification failed. */
export async function diagnose(active: ActiveTask, { log, failure }: KeptVerification): Promise<void> {
  const { known, emit } = active
  await askScoutB(active, {
    question: `Why did verification ${known.attempts.length} fail, and where is the cause?`,
    failureLog: failure === null ? log : `${failure}\n\n${log}`,
  })
  const { diagnosis } = known
  if (diagnosis === null || diagnosis === undefined) return
  emit({
    kind: 'diagnosis',
    attempt: known.attempts.length,
    text: [diagnosis.root_cause, ...diagnosis.suggested_investigation].join('\n'),
  })
}

/** Settles each conflict between the last answers once, and samples the conventions of the relevant files. */
export async function settleConflicts(active: ActiveTask): Promise<void> {
  const { known, emit, tree, baseline } = active
  const { scoutA, scoutB } = known
  if (scoutA !== null && scoutB !== null)
    for (const decision of findConflicts(scoutA.report, scoutB.report)) {
      if (known.decisions.some(({ question }) => question === decision.question)) continue
      known.decisions.push(decision)
      emit({ kind: 'conflict', ...decision })
    }
  const focus = scoutA?.report.repo_map.relevant_files.map(({ path }) => path) ?? []
  const files = [...(await tree.entries(baseline.tree)).keys()]
  known.conventions = sampleConventions(tree.root, files, focus)
}

/** Reuses an answer that an earlier process already paid for. */
export async function askScoutA(active: ActiveTask, query: ScoutQuery): Promise<void> {
  const { scouts } = active.tools
  active.known.scoutA = await ask(active, 'scout_a', (signal) => scouts.askA(query, signal))
}

export async function askScoutB(active: ActiveTask, query: ScoutQuery): Promise<void> {
  const { scouts } = active.tools
  const answer = await ask(active, 'scout_b', (signal) => scouts.askB(query, signal))
  active.known.scoutB = answer
  active.known.diagnosis = answer.report.failure_analysis ?? active.known.diagnosis
}

export interface ScoutQuestion {
  readonly scout: ScoutName
  readonly question: string
}

/** Asks for the Editor, two Scouts at once. What they found before stays as it is. */
export async function askForEditor(active: ActiveTask, questions: readonly ScoutQuestion[]) {
  const { askA, askB } = active.tools.scouts
  const asked = questions.map(async ({ scout, question }) => {
    const send = scout === 'scout_a' ? askA : askB
    const { report } = await ask<object>(active, scout, (signal) => send({ question }, signal))
    return { title: `${names[scout]} was asked: ${question}`, text: JSON.stringify(report) }
  })
  await Promise.allSettled(asked)
  return Promise.all(asked)
}

const names: Readonly<Record<ScoutName, string>> = { scout_a: 'Scout A', scout_b: 'Scout B' }

async function ask<Report>(
  active: ActiveTask,
  scout: ScoutName,
  send: (signal: AbortSignal) => Promise<ScoutOutcome<Report>>,
): Promise<ScoutAnswer<Report>> {
  const { journal, emit, feed, known, spending, context, signal } = active
  const number = known.next[scout]
  known.next[scout] += 1
  emit({ kind: 'milestone', milestone: scout, text: milestones[scout] })
  const step = await journal.step(`${scout.replace('_', '-')}-${number}`, async () => {
    throwIfStopped(active)
    spending.check()
    // The events are stored together with the answer, so a crash loses both or neither.
    const { result: outcome, keptSteps } = await feed.hold(scout, () => send(signal))
    if (outcome.kind !== 'answer') for (const each of keptSteps) emit(each)
    if (outcome.kind === 'cancelled') {
      throwIfStopped(active)
      throw infra(
        names[scout],
        'the question was cancelled although the task was not',
        'Start the task again.',
      )
    }
    if (outcome.kind === 'failed') {
      throwIfStopped(active)
      spending.check()
      throw infra(
        names[scout],
        `${outcome.message} (${counted(outcome.tries, 'try', 'tries')})`,
        'Check that the model can be reached: its key, its address and its limits. Then retry the task.',
      )
    }
    spending.add(outcome.answer.costUsd)
    return { answer: context.redaction.value(outcome.answer) as ScoutAnswer<Report>, told: keptSteps }
  })
  for (const each of step.told) emit(each)
  known.corrections.push(...step.answer.corrections)
  return step.answer
}

/**
 * Finds and settles conflicts between the two Scouts without asking a model: Scout B decides about tests and builds, Scout A about
 * everything else.
 */
export function findConflicts(a: ScoutAReport, b: ScoutBReport): readonly ScoutDecision[] {
  return [...toolConflicts(a, b), ...fileConflicts(a, b)].map(settle)
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

/** The test framework and the build system, where Scout A names another one. */
function toolConflicts(a: ScoutAReport, b: ScoutBReport): readonly Conflict[] {
  const claims = [
    ['Which framework runs the tests?', b.test?.detected_framework, namedBy(a, frameworks)],
    ['Which system builds the project?', b.build?.detected_system, namedBy(a, builders)],
  ] as const
  return claims.flatMap(([question, detected, named]) =>
    detected === undefined || detected === 'custom' || named.length === 0 || named.includes(detected)
      ? []
      : [{ question, a: named.join(', '), b: detected }],
  )
}

/** Scout A has no field for commands, so look for them in its advice. */
function namedBy(a: ScoutAReport, words: readonly (readonly [string, RegExp])[]): readonly string[] {
  const advice = [...a.verification_tips, ...a.conventions.patterns, ...a.hypotheses].join('\n')
  return words.filter(([, pattern]) => pattern.test(advice)).map(([name]) => name)
}

const dismissal =
  /\b(?:irrelevant|unrelated|not relevant|unused|obsolete|deprecated|dead code|generated|not part of)\b/i

/** A file that Scout A calls primary and that Scout B dismisses in the sentence that names it. */
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
